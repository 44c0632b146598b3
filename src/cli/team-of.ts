import { existsSync } from "node:fs";
import type { Config } from "../config/config.ts";
import type { Maestro, ProvedTeam, Team } from "../index.ts";
import { askingForTrust } from "./ask-trust.ts";
import { type GlobalOptions, loadFromFlags } from "./open.ts";
import { say } from "./output.ts";

/** The team of a file, or the built-in team, which ships with the package and has no file. */
export async function loadTeamFile(
  file: string | undefined,
  options: GlobalOptions,
): Promise<{ readonly team: Team; readonly file?: string }> {
  if (file === undefined) return { team: await (await import("../index.ts")).builtInTeam() };
  const { loadTrustedTeam } = await import("../config/team-trust.ts");
  const { config } = await askingForTrust(() => loadFromFlags(options), options);
  return askingForTrust(() => loadTrustedTeam(file, process.env, config.sandbox), options);
}

type ProvedConfig = Pick<Config, "model" | "simulatedScript" | "sandbox" | "servers" | "providersFrom">;

/** Checks models, commands and the sandbox before the session is claimed: a missing one is wrong usage, not a failed attempt. */
export async function prove(
  team: ProvedTeam,
  { model, simulatedScript: script, sandbox, servers, providersFrom }: ProvedConfig,
): Promise<void> {
  const { proveCommands, proveModels, proveSandbox } = await import("../index.ts");
  const folders = providersFrom === undefined ? [] : [providersFrom];
  await proveModels(team, { model, script, env: process.env, servers, folders });
  await proveCommands(team);
  await proveSandbox(team, sandbox);
}

/** Like `prove`, for an existing session, with its recorded model unless another is given. */
export async function proveFor(
  maestro: Maestro,
  idOrKey: string,
  given: Team | undefined,
  options: GlobalOptions,
  mayRun: (phase: string, isDone: boolean) => boolean = () => true,
): Promise<void> {
  const { model, status, phases } = await maestro.show(idOrKey);
  if (status === "completed" && options.model === undefined) return;
  const { config } = await loadFromFlags(options);
  const team = given ?? (await maestro.team(idOrKey));
  const { definition } = team;
  const isDone = (name: string) =>
    phases.some((phase) => phase.name === name && ["completed", "reused"].includes(phase.status));
  const left = definition.phases.filter(({ name }) => mayRun(name, isDone(name)));
  await prove(
    { ...team, definition: { ...definition, phases: left } },
    { ...config, model: options.model ?? model ?? undefined },
  );
}

/** The session's team: from the given file, its original file, or the journal. */
export async function teamForSession(
  maestro: Maestro,
  idOrKey: string,
  options: GlobalOptions & { readonly team?: string },
): Promise<Team | undefined> {
  if (options.team !== undefined) return (await loadTeamFile(options.team, options)).team;
  const { teamFile } = await maestro.show(idOrKey);
  if (teamFile === null) return undefined;
  if (existsSync(teamFile)) return (await loadTeamFile(teamFile, options)).team;
  say(`The team file ${teamFile} no longer exists; resuming with the recorded team.`);
  return undefined;
}
