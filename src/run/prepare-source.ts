import { emptyTree, emptyTreeHash } from "../domain/tree.ts";
import type { Team } from "../team/define.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { infrastructureFailed } from "./control.ts";
import type { ClaimedSession } from "./drive.ts";
import { readChecksOnly } from "./programs/read-checks-only.ts";
import { launches } from "./programs/refuse-unconfined.ts";

/**
 * Dependencies, before a model is asked. What is done is a row, so a later drive does not repeat it. Throws `SetupFailed`,
 * which parks the session; a person's resume tries again. Gives the session whose checks, commands and agents see them.
 */
export const prepareDependencies = (team: Team, session: ClaimedSession): Promise<ClaimedSession> =>
  installDependencies(team.definition, session);

/** Runs the team's checks on the files of the source, before the first model call. Throws `SetupFailed` too. */
export async function measureSource(team: Team, session: ClaimedSession): Promise<void> {
  if (session.journal.state.created.source === undefined) return;
  const { measureBaseline } = await import("./baseline.ts");
  await measureBaseline(team, session);
}

async function installDependencies(
  definition: TeamDefinition,
  session: ClaimedSession,
): Promise<ClaimedSession> {
  const { journal, artifacts, control, layers, setupPlace, place } = session;
  const { source } = journal.state.created;
  const written = definition.setup;
  // A team that runs no program needs no dependencies.
  if (written === false || (written === undefined && (source === undefined || !runsPrograms(definition))))
    return session;
  const hash = source?.tree ?? emptyTreeHash;
  const files =
    source === undefined ? emptyTree : await loadTree(artifacts, hash).catch(infrastructureFailed);
  const { findSetups, inputNames } = await import("../team/find-setup.ts");
  const setups = written ?? findSetups(files);
  if (setups.length === 0) return session;
  const { SessionSetups } = await import("./setup/session-setups.ts");
  const prepared = new SessionSetups(setups, { hash, files }, journal, {
    layers,
    place: setupPlace,
    readExtra: () => readChecksOnly(journal.state, session.stateDirectory),
  });
  control.throwIfStopped();
  try {
    await prepared.prepareBase(AbortSignal.any([control.signal, control.stopSignal]));
  } catch (error) {
    control.throwIfStopped();
    throw error;
  }
  const layersFor: ClaimedSession["layersFor"] = (tree, signal) => prepared.layersFor(tree, signal);
  return {
    ...session,
    layersFor,
    setupInputs: setups.map(inputNames),
    checks: session.checks.withLayers(layersFor),
    place: {
      runTool: async (workspace, argv, signal) =>
        place.runTool(workspace, argv, signal, await layersFor(workspace.tree, signal)),
    },
  };
}

const runsPrograms = ({ phases }: TeamDefinition): boolean =>
  phases.some(({ personas }) => personas.some(launches));
