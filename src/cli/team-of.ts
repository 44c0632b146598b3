import { existsSync } from "node:fs";
import type { Maestro, Team } from "../index.ts";
import { type GlobalOptions, loadFromFlags } from "./open.ts";
import { say } from "./output.ts";

/** The team of a file, or the built-in one, which has none: it is part of what is installed. */
export async function loadTeamFile(
  file: string | undefined,
): Promise<{ readonly team: Team; readonly file?: string }> {
  const { builtInTeam, loadTeam } = await import("../index.ts");
  return file === undefined ? { team: await builtInTeam() } : loadTeam(file);
}

/** Before anything is claimed: a model or a program that cannot be had is wrong usage, not a failed attempt. */
export async function prove(
  team: Pick<Team, "definition">,
  {
    model,
    simulatedScript: script,
  }: { readonly model?: string | undefined; readonly simulatedScript?: string | undefined },
): Promise<void> {
  const { proveCommands, proveModels } = await import("../index.ts");
  await proveModels(team, { model, script, env: process.env });
  await proveCommands(team);
}

/** The same for a session that is there: with the model it was started with, unless another is named now. */
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
  const { definition } = given ?? (await maestro.team(idOrKey));
  const isDone = (name: string) =>
    phases.some((phase) => phase.name === name && ["completed", "reused"].includes(phase.status));
  const left = definition.phases.filter(({ name }) => mayRun(name, isDone(name)));
  await prove(
    { definition: { ...definition, phases: left } },
    { ...config, model: options.model ?? model ?? undefined },
  );
}

/** The team of a session: from the file given now, the file it was started with, or what is recorded. */
export async function teamForSession(
  maestro: Maestro,
  idOrKey: string,
  given: string | undefined,
): Promise<Team | undefined> {
  if (given !== undefined) return (await loadTeamFile(given)).team;
  const { teamFile } = await maestro.show(idOrKey);
  if (teamFile === null) return undefined;
  if (existsSync(teamFile)) return (await loadTeamFile(teamFile)).team;
  say(`The team file ${teamFile} is gone; going on with the team as it was recorded.`);
  return undefined;
}
