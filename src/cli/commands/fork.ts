import type { Command } from "commander";
import { advise } from "../../domain/advice.ts";
import { type Amount, microsToUsd } from "../../domain/budget.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { ForkOptions, Plan } from "../../index.ts";
import { flagsOf } from "../define/command.ts";
import { type DriveOptions, drive } from "../drive.ts";
import { requireState, withMaestro } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { nameOf, print, printJson, say, sayCommand } from "../output.ts";
import { pathsOf, readEdits } from "../read-edit.ts";
import { readBudget } from "../read-flags.ts";
import { proveFor, teamForSession } from "../team-of.ts";
import { money, number } from "../terminal/format.ts";

interface ForkFlags extends DriveOptions {
  readonly at: string;
  readonly edit?: readonly string[];
  readonly fresh?: boolean;
  readonly repeatEffects?: boolean;
  readonly team?: string;
  readonly key?: string;
  readonly budgetTokens?: string;
  readonly budgetUsd?: string;
  readonly dryRun?: boolean;
}

/** Prints what the fork reuses and what it may cost, then creates and runs it. */
export async function fork(idOrKey: string, options: ForkFlags, command: Command): Promise<void> {
  await checkOut(options.out);
  await requireState(options, idOrKey);
  const budget = readBudget(options);
  const { parent, plan, request } = await withMaestro(options, async (maestro) => {
    const session = await maestro.find(idOrKey);
    const { id } = session;
    if (!options.dryRun) await maestro.ensureTrusted(id);
    const edits = await readEdits(options.edit, () => pathsOf(maestro, id));
    const team = await teamForSession(maestro, id, options);
    await proveFor(maestro, id, team, options);
    const request: ForkOptions = {
      at: options.at,
      ...(Object.keys(edits).length > 0 && { edits }),
      ...(options.fresh && { fresh: true }),
      ...(options.repeatEffects && { repeatEffects: true }),
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
    const fresh = freshWords(parent, options, command);
    // A later resume with that key would find no session.
    if (options.key !== undefined && !options.dryRun)
      throw new InputInvalid(`Nothing would run, so session "${options.key}" is not created.`, {
        advice: advise("To run it again", ...fresh),
      });
    if (options.json) return printPlan(plan);
    print("Nothing will run; --fresh reruns it.");
    say(`No session is created: it would equal ${parent}.`);
    return sayCommand("To run it again", options.stateDir, ...fresh);
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

/** Without the state directory, which every printed command gets. */
function freshWords(parent: string, options: ForkFlags, command: Command): readonly string[] {
  const flags = { ...options, stateDir: undefined, fresh: true, dryRun: false, json: false };
  return [command.name(), parent, ...flagsOf(command, flags)];
}

function printPlan(plan: Plan): void {
  printJson({ id: null, status: null, plan: planDocument(plan) });
}

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

export function* describePlan({ personas, cost, unknown, effects }: Plan): Generator<string> {
  const named = (...actions: readonly string[]): string[] =>
    personas
      .filter(({ action }) => actions.includes(action))
      .map(({ phase, persona }) => `${phase}/${persona}`);
  const lines: [string, string[]][] = [
    ["Kept", named("kept")],
    ["Reused, input unchanged", named("reused")],
    ["Runs", named("runs")],
    ["May run, if its input changes", named("may-run")],
  ];
  for (const [what, who] of lines) if (who.length > 0) yield `${what}: ${who.join(", ")}`;
  if (effects.length > 0)
    yield `Repeats effects that happened, with --repeat-effects only: ${effects.map(({ phase, name }) => `${phase}/${name}`).join(", ")}`;
  const [least, most] = [price(cost.least), price(cost.most)];
  if (most.tokens > 0) {
    const range =
      least.tokens === most.tokens
        ? `about ${number(most.tokens)} tokens, ${money(most.usd)}`
        : `${number(least.tokens)} to ${number(most.tokens)} tokens, ${money(least.usd)} to ${money(most.usd)}`;
    yield `Estimated cost: ${range}, based on past runs.`;
  }
  if (unknown.length > 0) yield `Cost unknown, no past runs: ${[...new Set(unknown)].join(", ")}.`;
}
