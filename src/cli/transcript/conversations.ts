import { isSimulated } from "../../domain/simulated.ts";
import type { TranscriptItem } from "../../journal/transcript/item.ts";
import { count, duration, money, number } from "../terminal/format.ts";

/** The items of one attempt, or what belongs to none. */
export interface Conversation {
  readonly title: string;
  readonly items: TranscriptItem[];
}

/** Personas that work at once take turns in the journal. Each conversation is read as a whole. */
export function conversationsOf(items: readonly TranscriptItem[]): readonly Conversation[] {
  const conversations = new Map<string, Conversation>();
  for (const item of items) {
    const title = placeText(item);
    const known = conversations.get(title);
    if (known === undefined) conversations.set(title, { title, items: [item] });
    else known.items.push(item);
  }
  return [...conversations.values()];
}

function placeText({ phase, persona, round, attempt }: TranscriptItem): string {
  if (phase === null && persona === null) return "session";
  const place = [phase, persona].filter((name) => name !== null).join(" / ");
  return attempt === null ? place : `${place}, attempt ${attempt}${round === 1 ? "" : ` (round ${round})`}`;
}

/** One line: what it is, how long it took and what it cost. */
export function itemTitle(item: TranscriptItem): string {
  return [headOf(item), timeOf(item), usageText(item), item.seq === null ? "" : `#${item.seq}`]
    .filter((part) => part !== "")
    .join(" · ");
}

function headOf(item: TranscriptItem): string {
  switch (item.kind) {
    case "prompt": {
      const { model, messages, tools, repeats } = item;
      if (messages === null) return `prompt · ${model}`;
      const before = repeats === 0 ? "" : `, ${repeats} as before`;
      const offered = tools === null ? "" : `, ${count(tools.length, "tool")}`;
      return `prompt · ${model} · ${count(messages.length, "message")}${before}${offered}`;
    }
    case "answer":
      return item.estimated
        ? "answer · lost"
        : `answer${item.reused ? " · reused" : ""}${item.error === null ? "" : " · failed"}`;
    case "tool":
      return `tool ${item.tool} · ${item.status}`;
    case "check":
      return `check ${item.check} · ${item.status}${item.of === "attempt" ? "" : ` · ${item.of}`}`;
    case "healing":
      return `healing by ${item.healer} · ${item.outcome}`;
    case "person":
      return `${item.by ?? "person"} · ${item.action}`;
    case "step":
      return `step ${item.step} · ${item.status}`;
    case "ending":
      return `attempt ${item.status}`;
    case "reasoning":
      return "reasoning";
  }
}

function timeOf(item: TranscriptItem): string {
  if (item.ms === null || item.kind === "prompt" || item.kind === "reasoning") return "";
  const first = item.kind === "answer" ? item.firstTokenMs : null;
  return `${short(item.ms)}${first === null ? "" : `, first token after ${short(first)}`}`;
}

const short = (ms: number): string => (ms < 1_000 ? `${Math.round(ms)} ms` : duration(ms));

function usageText(item: TranscriptItem): string {
  const { usage } = item;
  if (usage === null) return "";
  const { inputTokens, outputTokens, reasoningTokens, cacheShare, costUsd, estimatedTokens, estimatedUsd } =
    usage;
  if (estimatedTokens > 0)
    return `up to ${number(estimatedTokens)} tokens, perhaps ${money(estimatedUsd)} billed`;
  const cached =
    cacheShare === null || cacheShare === 0 ? "" : ` (${Math.round(cacheShare * 100)} % from cache)`;
  const thought = reasoningTokens === 0 ? "" : ` (${number(reasoningTokens)} reasoning)`;
  const invented = "model" in item && isSimulated(item.model) ? " simulated" : "";
  const price = costUsd === null ? "" : ` · ${money(costUsd)}${invented}`;
  return `${number(inputTokens)} in${cached}, ${number(outputTokens)} out${thought}${price}`;
}

/** The text of an item with the calls that it requests. */
export function bodyOf(item: TranscriptItem): string {
  if (item.kind === "prompt" && item.repeats > 0 && item.content === "") return "";
  if (item.kind !== "answer") return item.content;
  const calls = item.toolCalls.map(({ tool, arguments: args }) => `→ ${tool} ${callText(args)}`);
  return [item.error ?? "", item.content, ...calls].filter((part) => part !== "").join("\n");
}

const callText = (args: unknown): string => {
  const line = JSON.stringify(args);
  return line.length <= 100 ? line : JSON.stringify(args, null, 2);
};
