import { advise } from "../domain/advice.ts";
import { InputInvalid } from "../domain/errors.ts";
import { emptyTree } from "../domain/tree.ts";
import { plannedPhases } from "../journal/planned.ts";
import type { AttemptState, SessionState } from "../journal/session-state.ts";
import { unknownPhase } from "../run/direction.ts";
import { type FinalTree, finalTree } from "../run/final-files.ts";
import type { Blobs } from "../store/blobs.ts";
import { SessionFiles } from "../store/session-files.ts";
import { loadTree } from "../workspace/stored-tree.ts";

export interface TreeServices {
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
}

/**
 * One of the session's trees by its name: `head` (now), `base` (at the start), a phase (`design`, `phase:design`, a
 * revision as `phase:design@1`), or the result of an attempt (`attempt:design/architect/r1a2`, or `attempt:3` for
 * the third of the session).
 */
export async function treeAt(state: SessionState, at: string, services: TreeServices): Promise<FinalTree> {
  const { artifacts } = services;
  if (at === "head") return finalTree(state, artifacts);
  const load = async (tree: string | undefined): Promise<FinalTree> => ({
    tree: tree === undefined ? emptyTree : await loadTree(artifacts, tree),
    blobs: artifacts,
  });
  if (at === "base") return load(state.created.source?.tree);
  if (at.startsWith("attempt:")) return load(attemptAt(state, at).tree);
  const [, name = "", revision] = /^(?:phase:)?([^@/:]+)(?:@(\d{1,6}))?$/.exec(at) ?? [];
  if (name === "") throw unknownTree(state, at);
  return load(await phaseTree(state, name, revision === undefined ? undefined : Number(revision), services));
}

async function phaseTree(
  state: SessionState,
  name: string,
  revision: number | undefined,
  { stateDirectory }: TreeServices,
): Promise<string | undefined> {
  const phase = state.phases.get(name);
  const known = plannedPhases(state.created.definition).map((planned) => planned.name);
  if (phase === undefined && !known.includes(name)) throw unknownPhase(name, known);
  if (phase?.status === "completed" && (revision ?? phase.revision) === phase.revision) return phase.tree;
  const files = new SessionFiles(stateDirectory, state.id);
  const sealed = revision === undefined ? undefined : await files.readCheckpoint(name, revision);
  if (sealed !== undefined) return sealed.content.tree;
  const which = revision === undefined ? `Phase ${name}` : `Revision ${revision} of phase ${name}`;
  throw new InputInvalid(`${which} of session ${state.id} has no files yet.`, {
    details: { session: state.id, phase: name },
    advice: advise("List its checkpoints", "checkpoints", state.id),
  });
}

function attemptAt(state: SessionState, at: string): AttemptState {
  const attempts = [...state.phases.values()]
    .flatMap(({ personas }) => [...personas.values()])
    .flatMap((persona) => persona.attempts);
  const [, phase, persona, round, attempt] =
    /^attempt:([^/]+)\/([^/]+)\/r(\d{1,6})a(\d{1,6})$/.exec(at) ?? [];
  const [, number] = /^attempt:(\d{1,6})$/.exec(at) ?? [];
  const found =
    number === undefined
      ? attempts.findLast(
          (each) =>
            each.phase === phase &&
            each.persona === persona &&
            each.round === Number(round) &&
            each.attempt === Number(attempt),
        )
      : attempts.toSorted((a, b) => a.started - b.started)[Number(number) - 1];
  if (found === undefined) throw unknownTree(state, at);
  return found;
}

const unknownTree = ({ id }: SessionState, at: string): InputInvalid =>
  new InputInvalid(`The session has no tree "${at.slice(0, 200)}".`, {
    details: { session: id },
    advice:
      "One of: head, base, a phase, phase:<name>@<revision>, attempt:<number>, attempt:<phase>/<persona>/r1a1.",
  });
