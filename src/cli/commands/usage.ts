import { usageCsv } from "../../api/open-readonly.ts";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { moneyTerms } from "../../domain/money-terms.ts";
import type { SessionForecast, UsageOptions, UsageReport, UsageTotals } from "../../index.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import { printJson, printTable, printWrapped, say } from "../output.ts";
import { readSince, usageGroups } from "../read-flags.ts";
import { cost, count, money, number, plain } from "../terminal/format.ts";
import { screenOf } from "../terminal/screen.ts";
import { stopSpinner } from "../terminal/spinner.ts";
import { bar } from "../terminal/table.ts";

const mostRows = 30;
/** With --json, print the whole report. */
const allRows = 10_000_000;

interface UsageFlags extends GlobalOptions {
  readonly session?: string;
  readonly by: string;
  readonly since?: string;
  readonly csv?: boolean;
}

export async function usage(options: UsageFlags): Promise<void> {
  const query: UsageOptions = {
    by: readGroup(options.by),
    since: readSince("--since", options.since, Date.now()),
    most: allRows,
    ...(options.session !== undefined && { session: options.session }),
  };
  const { session } = options;
  const { report, forecast } = await withReadonly(options, async (maestro) => ({
    report: await maestro.usage(query),
    forecast: session === undefined ? null : await maestro.forecast(session),
  }));
  if (options.csv) {
    stopSpinner();
    process.stdout.write(usageCsv(report));
    return;
  }
  if (options.json) return printJson({ ...report, forecast });
  const { total } = report;
  if (total.calls === 0 && total.savedTokens === 0) say("No model was called yet.");
  else {
    rows(report);
    for (const line of sums(total)) printWrapped(line);
  }
  if (forecast !== null) for (const line of toCome(forecast)) printWrapped(line);
}

function readGroup(text: string): (typeof usageGroups)[number] {
  const found = usageGroups.find((group) => group === text);
  if (found !== undefined) return found;
  throw new InputInvalid(`--by is "${text}".${didYouMean(text, usageGroups)}`, {
    advice: `One of: ${usageGroups.join(", ")}.`,
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
        cost(row),
        row.savedTokens === 0 ? "-" : number(row.savedTokens),
      ]),
  );
  if (all.length > mostRows) say(`and ${all.length - mostRows} more; all of them with --json`);
}

const tokensOf = ({ inputTokens, outputTokens }: UsageTotals): number => inputTokens + outputTokens;

/** The forecast for the remaining phases. */
function* toCome({ phases, unknown }: SessionForecast): Generator<string> {
  if (phases.length === 0) return;
  yield "Remaining, estimated from past runs (median to 90th percentile):";
  for (const { phase, median, p90 } of phases)
    yield plain(
      `  ${phase}: ${number(median.tokens)} to ${number(p90.tokens)} tokens, ${money(median.usd)} to ${money(p90.usd)}`,
    );
  if (unknown.length > 0) yield plain(`  no past runs, not included: ${unknown.join(", ")}`);
}

function* sums(total: UsageTotals): Generator<string> {
  const { inputTokens, cachedInputTokens, outputTokens, reasoningTokens, saved } = total;
  yield "";
  yield `Together: ${number(tokensOf(total))} tokens in ${count(total.calls, "call")}, ${cost(total)}`;
  yield `  input ${number(inputTokens)} (from cache ${number(cachedInputTokens)}), output ${number(outputTokens)} (reasoning ${number(reasoningTokens)})`;
  if (total.failedCalls > 0) yield `  failed calls: ${number(total.failedCalls)}`;
  if (total.simulatedCalls > 0)
    yield `  simulated, not paid: ${money(total.simulatedUsd)} in ${count(total.simulatedCalls, "call")} of the simulated model`;
  if (total.unpricedCalls > 0)
    yield `  ${count(total.unpricedCalls, "call")} without a known price; the others: ${money(total.knownCostUsd)}`;
  const unreported = total.unreportedCalls - total.simulatedUnreportedCalls;
  const [tokens, usd] = [
    total.estimatedTokens - total.simulatedEstimatedTokens,
    total.estimatedUsd - total.simulatedEstimatedUsd,
  ];
  if (unreported > 0)
    yield `  ${count(unreported, "call")} without reported tokens, perhaps billed: reserved ${number(tokens)} tokens, ${money(usd)}`;
  if (total.simulatedUnreportedCalls > 0)
    yield `  ${count(total.simulatedUnreportedCalls, "simulated call")} without reported tokens, never billed: reserved ${number(total.simulatedEstimatedTokens)} tokens`;
  const reasons = [
    ["resume", "recorded, so not requested again after a stop"],
    ["reuse", "reused by forks"],
    ["cache", "read from the provider's cache, which is cheaper"],
    ["patch", "edited instead of rewritten"],
  ] as const;
  const lines = reasons.filter(([kind]) => saved[kind].tokens !== 0);
  if (lines.length > 0) yield "Saved:";
  for (const [kind, why] of lines)
    yield `  ${kind}: ${number(saved[kind].tokens)} tokens, ${money(saved[kind].usd)} (${why})`;
  yield "Money:";
  for (const { member, name, sentence } of moneyTerms) yield `  ${name} ${money(total[member])}: ${sentence}`;
}
