import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { UsageOptions, UsageReport, UsageTotals } from "../../index.ts";
import { type GlobalOptions, withLook } from "../open.ts";
import { print, printJson, printTable, say } from "../output.ts";
import { readSince } from "../read-flags.ts";
import { screenOf } from "../terminal/screen.ts";
import { bar } from "../terminal/table.ts";
import { count, money, number } from "../terminal/words.ts";

const groups = ["persona", "phase", "model", "session", "day"] as const;
const mostRows = 30;

interface UsageFlags extends GlobalOptions {
  readonly session?: string;
  readonly by: string;
  readonly since?: string;
}

export async function usage(options: UsageFlags): Promise<void> {
  const query: UsageOptions = {
    by: readGroup(options.by),
    since: readSince("--since", options.since, Date.now()),
    ...(options.session !== undefined && { session: options.session }),
  };
  const report = await withLook(options, (maestro) => maestro.usage(query));
  if (options.json) return printJson(report);
  const { total } = report;
  if (total.calls === 0 && total.savedTokens === 0 && total.estimatedTokens === 0)
    return say("No model was asked yet.");
  rows(report);
  for (const line of sums(total)) print(line);
}

function readGroup(text: string): (typeof groups)[number] {
  const found = groups.find((group) => group === text);
  if (found !== undefined) return found;
  throw new InputInvalid(`--by is "${text}".${didYouMean(text, groups)}`, {
    advice: `One of: ${groups.join(", ")}.`,
  });
}

function rows({ by, rows: all }: UsageReport): void {
  const most = Math.max(1, ...all.map(tokensOf));
  const room = Math.min(30, Math.max(8, Math.floor(screenOf(process.stdout).columns / 4)));
  const columns = Number.isFinite(room) ? room : 20;
  printTable(
    [
      { head: by },
      { head: "tokens", align: "right" },
      { head: "", yields: 2 },
      { head: "calls", align: "right", yields: 4 },
      { head: "cost", align: "right" },
      { head: "saved", align: "right", yields: 3 },
    ],
    all
      .slice(0, mostRows)
      .map((row) => [
        row.name,
        number(tokensOf(row)),
        bar(tokensOf(row) / most, columns).padEnd(columns),
        number(row.calls),
        money(row.costUsd),
        row.savedTokens === 0 ? "-" : number(row.savedTokens),
      ]),
  );
  if (all.length > mostRows) say(`and ${all.length - mostRows} more; all of them with --json`);
}

const tokensOf = ({ inputTokens, outputTokens }: UsageTotals): number => inputTokens + outputTokens;

function* sums(total: UsageTotals): Generator<string> {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, saved } = total;
  yield "";
  yield `Together: ${number(tokensOf(total))} tokens in ${count(total.calls, "call")}, ${money(total.costUsd)}`;
  yield `  input ${number(inputTokens)} (from cache ${number(cachedInputTokens)}), output ${number(outputTokens)} (reasoning ${number(reasoningTokens)})`;
  if (total.failedCalls > 0) yield `  failed calls: ${number(total.failedCalls)}`;
  if (total.unpricedCalls > 0)
    yield `  ${count(total.unpricedCalls, "call")} without a known price; the others: ${money(total.knownCostUsd)}`;
  if (total.estimatedTokens > 0)
    yield `  answers lost in a crash, perhaps billed: up to ${number(total.estimatedTokens)} tokens, ${money(total.estimatedUsd)}`;
  const reasons = [
    ["resume", "recorded, so not asked again after a stop"],
    ["reuse", "taken over by forks"],
    ["cache", "read from the provider's cache, which is cheaper"],
    ["patch", "edited instead of written anew"],
  ] as const;
  const lines = reasons.filter(([kind]) => saved[kind].tokens > 0);
  if (lines.length === 0) return;
  yield "Saved:";
  for (const [kind, why] of lines)
    yield `  ${kind}: ${number(saved[kind].tokens)} tokens, ${money(saved[kind].usd)} (${why})`;
}
