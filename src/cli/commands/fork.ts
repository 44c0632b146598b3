import { type Amount, microsToUsd } from "../../domain/budget.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { ForkOptions, Plan } from "../../index.ts";
import { type DriveOptions, drive } from "../drive.ts";
import { withMaestro } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { commandLine, nameOf, print, printJson, quote, say } from "../output.ts";
import { pathsOf, readEdits } from "../read-edit.ts";
import { readBudget } from "../read-flags.ts";
import { proveFor, teamForSession } from "../team-of.ts";
import { money, number } from "../terminal/words.ts";

interface ForkFlags extends DriveOptions {
  readonly at: string;
  readonly edit?: readonly string[];
  readonly fresh?: boolean;
  readonly team?: string;
  readonly key?: string;
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly dryRun?: boolean;
}

/** Says what a fork would reuse and what it may cost; then makes it and drives it. */
export async function fork(idOrKey: string, options: ForkFlags): Promise<void> {
  await checkOut(options.out);
  const budget = readBudget(options);
  const { parent, plan, request } = await withMaestro(options, async (maestro) => {
    const session = await maestro.find(idOrKey);
    const { id } = session;
    const edits = await readEdits(options.edit, () => pathsOf(maestro, id));
    const team = await teamForSession(maestro, id, options.team);
    await proveFor(maestro, id, team, options);
    const request: ForkOptions = {
      at: options.at,
      ...(Object.keys(edits).length > 0 && { edits }),
      ...(options.fresh && { fresh: true }),
      ...(team !== undefined && { team }),
      ...(options.model !== undefined && { model: options.model }),
      ...(options.key !== undefined && { key: options.key }),
      ...(budget !== undefined && { budget }),
    };
    return { parent: nameOf(session), plan: await maestro.planFork(id, request), request };
  });
  if (!options.json) for (const line of describePlan(plan)) say(line);
  const runs = plan.personas.some(({ action }) => action === "runs" || action === "may-run");
  if (!runs) {
    const fresh = freshCommand(parent, options);
    // Whoever goes on with that key would find nothing under it.
    if (options.key !== undefined && !options.dryRun)
      throw new InputInvalid(`Nothing would run, so there is no new session "${options.key}".`, {
        advice: `--fresh reruns it: ${fresh}`,
      });
    if (options.json) return printPlan(plan);
    print("Nothing will run; --fresh reruns it.");
    say(`No new session is made: it would be the same as ${parent}.`);
    return say(`That would be: ${fresh}`);
  }
  if (options.dryRun) return options.json ? printPlan(plan) : undefined;
  const { model: _, ...others } = options;
  await drive(
    others,
    async (maestro, ready) => {
      const made = await maestro.fork(parent, request);
      await ready(made.id);
      return maestro.resume(made.id, request.team === undefined ? {} : { team: request.team });
    },
    { oneDocument: (ended) => ({ ...ended, plan: planDocument(plan) }) },
  );
}

function freshCommand(parent: string, { at, edit = [], stateDir, ...said }: ForkFlags): string {
  const flags = {
    "--team": said.team,
    "--model": said.model,
    "--budget-tokens": said.budgetTokens,
    "--budget-usd": said.budgetUsd,
    "--key": said.key,
    "--out": said.out,
  };
  const more = Object.entries(flags).flatMap(([flag, value]) =>
    value === undefined ? [] : [flag, quote(value)],
  );
  const edits = edit.flatMap((pair) => ["--edit", quote(pair)]);
  return commandLine("fork", parent, stateDir, "--at", quote(at), "--fresh", ...edits, ...more);
}

function printPlan(plan: Plan): void {
  printJson({ id: null, status: null, plan: planDocument(plan) });
}

/** In dollars, as everything else that a person or a program reads. */
function planDocument({ cost, phases, ...rest }: Plan) {
  return {
    ...rest,
    cost: { least: price(cost.least), most: price(cost.most) },
    phases: phases.map(({ median, p90, ...phase }) => ({ ...phase, median: price(median), p90: price(p90) })),
  };
}

function price({ tokens, microUsd }: Amount): { readonly tokens: number; readonly usd: number | null } {
  return { tokens, usd: microUsd === null ? null : microsToUsd(microUsd) };
}

export function* describePlan({ personas, cost, unknown }: Plan): Generator<string> {
  const named = (...actions: readonly string[]): string[] =>
    personas
      .filter(({ action }) => actions.includes(action))
      .map(({ phase, persona }) => `${phase}/${persona}`);
  const lines: [string, string[]][] = [
    ["Taken over", named("kept")],
    ["Reused, its input is unchanged", named("reused")],
    ["Runs", named("runs")],
    ["May run, if what it rests on changes", named("may-run")],
  ];
  for (const [what, who] of lines) if (who.length > 0) yield `${what}: ${who.join(", ")}`;
  const [least, most] = [price(cost.least), price(cost.most)];
  if (most.tokens > 0) {
    const range =
      least.tokens === most.tokens
        ? `about ${number(most.tokens)} tokens, ${money(most.usd)}`
        : `${number(least.tokens)} to ${number(most.tokens)} tokens, ${money(least.usd)} to ${money(most.usd)}`;
    yield `It may cost ${range}, judged by past runs.`;
  }
  if (unknown.length > 0)
    yield `Not known what it costs: ${[...new Set(unknown)].join(", ")} never worked before.`;
}
