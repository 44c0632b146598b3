import { InputInvalid } from "../../domain/errors.ts";
import type { StartOptions, Team } from "../../index.ts";
import { drive } from "../drive.ts";
import { loadFromFlags, withMaestro } from "../open.ts";
import { readGiven } from "../read-edit.ts";
import { readDollars, readList, readTokens } from "../read-flags.ts";
import type { RunOptions } from "../run-options.ts";
import { loadTeamFile } from "../team-of.ts";

export async function run(written: string | undefined, options: RunOptions): Promise<void> {
  const brief = written ?? (await briefOfKey(options));
  const { team, file } = await loadTeamFile(options.team);
  const loaded = await loadFromFlags(options);
  await prove(team, loaded.config.model, loaded.config.simulatedScript);
  const start = { ...(await readStart(options)), brief, ...(file !== undefined && { teamFile: file }) };
  if (options.detach) {
    const { detach } = await import("../detach.ts");
    return detach(brief, options);
  }
  await drive(options, (maestro) => maestro.start(team, start), { loaded, teams: [team] });
}

/** A key that is known says what it is about. */
async function briefOfKey({ key, ...options }: RunOptions): Promise<string> {
  if (key !== undefined) {
    const known = await withMaestro(options, (maestro) => maestro.show(key)).catch(() => undefined);
    if (known?.key === key) return known.brief;
  }
  throw new InputInvalid("There is no brief.", {
    advice: 'Say what the team should do: maestro run "..."',
  });
}

/** Before a session exists: a model or a program that cannot be had is wrong usage, not a failed run. */
async function prove(team: Team, model: string | undefined, script: string | undefined): Promise<void> {
  const { proveCommands, proveModels } = await import("../../index.ts");
  await proveModels(team, { model, script, env: process.env });
  await proveCommands(team);
}

async function readStart(options: RunOptions): Promise<Omit<StartOptions, "brief">> {
  const only = readList(options.only);
  const pauseAfter = readList(options.pauseAfter);
  const tokens = readTokens("--budget-tokens", options.budgetTokens);
  const usd = readDollars("--budget-usd", options.budgetUsd);
  const budget = { ...(tokens !== undefined && { tokens }), ...(usd !== undefined && { usd }) };
  const given = await readGiven(options.given);
  return {
    ...(options.key !== undefined && { key: options.key }),
    ...(only !== undefined && { only }),
    ...(options.from !== undefined && { from: options.from }),
    ...(options.until !== undefined && { until: options.until }),
    ...(pauseAfter !== undefined && { pauseAfter }),
    ...(Object.keys(budget).length > 0 && { budget }),
    ...(Object.keys(given).length > 0 && { given }),
  };
}
