import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { BudgetView } from "../../index.ts";
import { type GlobalOptions, loadForReading, loadFromFlags, requireState, withMaestro } from "../open.ts";
import { nameOf, print, printJson, printTable, say, sayCommand } from "../output.ts";
import { readDollars, readTokens } from "../read-flags.ts";
import { money, number } from "../terminal/format.ts";
import { bar } from "../terminal/table.ts";

interface BudgetFlags extends GlobalOptions {
  readonly persona?: string;
  readonly phase?: string;
  readonly tokens?: string;
  readonly usd?: string;
}

const barColumns = 12;
const noLimit = "none";

export async function budget(idOrKey: string, options: BudgetFlags): Promise<void> {
  const tokens = options.tokens === noLimit ? null : readTokens("--tokens", options.tokens);
  const usd = options.usd === noLimit ? null : readDollars("--usd", options.usd);
  const { persona, phase, stateDir } = options;
  if (persona !== undefined && phase !== undefined)
    throw new InputInvalid("--persona and --phase cannot be combined.", {
      advice: "Give only one of them.",
    });
  const raises = tokens !== undefined || usd !== undefined;
  // Showing a budget runs no code from the folder.
  const loaded = await (raises ? loadFromFlags(options) : loadForReading(options));
  await requireState(options, idOrKey, loaded);
  const view = await withMaestro(
    options,
    async (maestro) => {
      const { id } = await maestro.find(idOrKey);
      if (raises) {
        await maestro.setBudget(id, {
          ...(persona !== undefined && { persona }),
          ...(phase !== undefined && { phase }),
          ...(tokens !== undefined && { tokens }),
          ...(usd !== undefined && { usd }),
        });
      }
      return maestro.show(id);
    },
    { loaded },
  );
  refuseUnknown(
    "persona",
    persona,
    view.phases.flatMap(({ personas }) => personas.map(({ name }) => name)),
  );
  refuseUnknown(
    "phase",
    phase,
    view.phases.map(({ name }) => name),
  );
  const shown = view.budgets.filter(
    ({ level, name }) =>
      (persona === undefined || (level === "persona" && name === persona)) &&
      (phase === undefined || (level === "phase" && name === phase)),
  );
  const { id, status, reason } = view;
  if (options.json) return printJson({ id, status, reason, budgets: shown });
  if (shown.length === 0) {
    print("No budget is set.");
    const target = Object.entries({ "--persona": persona, "--phase": phase }).flatMap(([flag, name]) =>
      name === undefined ? [] : [flag, name],
    );
    return sayCommand("Set one", stateDir, "budget", nameOf(view), ...target, "--tokens", "200000");
  }
  list(shown);
  if (raises && shown.some(isBelowUse))
    say("The limit is below the amount already used: the next call is refused.");
  if (raises && reason === "budget") sayCommand("Resume with", stateDir, "resume", nameOf(view));
}

function isBelowUse({ limit, used }: BudgetView): boolean {
  return (
    (limit.tokens !== null && limit.tokens <= used.tokens) ||
    (limit.usd !== null && limit.usd <= (used.usd ?? 0))
  );
}

function refuseUnknown(level: string, name: string | undefined, known: readonly string[]): void {
  if (name === undefined || known.includes(name)) return;
  throw new InputInvalid(`This session has no ${level} "${name}".${didYouMean(name, known)}`, {
    advice: `It has: ${[...new Set(known)].join(", ")}.`,
  });
}

function list(budgets: readonly BudgetView[]): void {
  printTable(
    [
      { head: "budget" },
      { head: "used", align: "right" },
      { head: "of", align: "right" },
      { head: "" },
      { head: "reserved", align: "right", yields: 1 },
    ],
    budgets.flatMap(({ level, name, limit, used, reserved, overrun }) => {
      const of = level === "session" ? "session" : `${level} ${name}`;
      const share = (part: number, whole: number): string =>
        `${bar(part / whole, barColumns).padEnd(barColumns)} ${Math.round((100 * part) / whole)} %${overrun ? " overrun" : ""}`;
      const lines: string[][] = [];
      if (limit.tokens !== null)
        lines.push([
          of,
          `${number(used.tokens)} tokens`,
          number(limit.tokens),
          share(used.tokens, limit.tokens),
          number(reserved.tokens),
        ]);
      if (limit.usd !== null)
        lines.push([
          of,
          money(used.usd),
          money(limit.usd),
          used.usd === null ? "unknown" : share(used.usd, limit.usd),
          money(reserved.usd),
        ]);
      return lines;
    }),
  );
}
