import type { TranscriptItem } from "../api/types.ts";
import { count, counted, tokens } from "../format/count.ts";
import { money } from "../format/money.ts";
import { duration } from "../format/time.ts";

const short = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms));

/** What an item is, in a few words. */
export function itemName(item: TranscriptItem): string {
  switch (item.kind) {
    case "prompt":
      return item.messages === null ? "Prompt" : item.repeats === 0 ? "First prompt" : "Next prompt";
    case "reasoning":
      return "Reasoning";
    case "answer":
      return item.estimated ? "Lost answer" : item.error === null ? "Answer" : "Failed call";
    case "tool":
      return item.tool;
    case "check":
      return `Check ${item.check}`;
    case "healing":
      return `Healing by ${item.healer}`;
    case "person":
      return "A person";
    case "step":
      return `Step ${item.step}`;
    case "ending":
      return item.status === "completed" ? "Attempt completed" : "Attempt failed";
  }
}

/** Time, tokens and price. */
export function itemFacts(item: TranscriptItem): string {
  const facts: string[] = [];
  if (item.kind === "prompt" && item.messages !== null) {
    const before = item.repeats === 0 ? "" : `, ${count(item.repeats)} as before`;
    facts.push(`${counted(item.repeats + item.messages.length, "message")}${before}`);
    if (item.tools !== null) facts.push(counted(item.tools.length, "tool"));
  }
  if (item.ms !== null && item.kind !== "prompt" && item.kind !== "reasoning") facts.push(short(item.ms));
  if (item.kind === "answer" && item.firstTokenMs !== null)
    facts.push(`first token after ${short(item.firstTokenMs)}`);
  if (item.usage !== null) {
    const { inputTokens, outputTokens, cacheShare, costUsd, estimatedUsd, estimatedTokens } = item.usage;
    const cached =
      cacheShare === null || cacheShare === 0 ? "" : ` (${Math.round(cacheShare * 100)} % from cache)`;
    if (estimatedTokens > 0) facts.push(`perhaps ${money(estimatedUsd)} billed`);
    else facts.push(`${tokens(inputTokens)} in${cached}, ${tokens(outputTokens)} out`);
    if (costUsd !== null && estimatedTokens === 0) facts.push(money(costUsd));
  }
  if ("reused" in item && item.reused) facts.push("reused, not paid");
  return facts.join(" · ");
}

export const hasFailed = (item: TranscriptItem): boolean =>
  (item.kind === "answer" && item.error !== null && !item.estimated) ||
  ("status" in item && (item.status === "failed" || item.status === "refused"));

/** All text of an item that a search looks through. */
export const searchText = (item: TranscriptItem): string =>
  [
    itemName(item),
    item.content,
    item.kind === "answer" || item.kind === "tool" ? JSON.stringify(argumentsOf(item)) : "",
  ]
    .join("\n")
    .toLowerCase();

const argumentsOf = (item: Extract<TranscriptItem, { kind: "answer" | "tool" }>): unknown =>
  item.kind === "tool" ? item.arguments : item.toolCalls;
