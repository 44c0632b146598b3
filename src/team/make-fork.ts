import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ForkOrigin, PhaseContent } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";
import type { SessionState } from "../domain/session-state.ts";
import { wordsOf } from "../domain/take-words.ts";
import type { WordsOfPhase } from "../domain/words-of-phase.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord } from "../state/store.ts";
import { type CreateParts, createSession } from "./create-session.ts";
import type { Team } from "./define.ts";
import type { TeamEngine } from "./engine.ts";
import { begunAfresh, checkFork, everKnown, takenOver } from "./fork.ts";
import { editPhase, type PhaseEdit } from "./phase-edit.ts";

export interface ForkRequest {
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  readonly fresh?: boolean;
  readonly model?: string;
  readonly key?: string;
}

/** The new session exists and owns all that it may use; nothing of it has run. */
export async function makeFork(
  parentId: SessionId,
  team: Team,
  request: ForkRequest,
  parts: CreateParts & { readonly artifacts: Artifacts; readonly engine: TeamEngine },
): Promise<SessionRecord> {
  const { store, artifacts, engine } = parts;
  const { at, edits = {}, fresh = false, key } = request;
  const parent = await readState(store, parentId);
  const edited: PhaseContent[] = [];
  const kept: string[] = [];
  for (const [name, edit] of Object.entries(edits)) {
    const { content, artifacts: stored } = await editPhase(team.definition, parent, name, edit, artifacts);
    edited.push(content);
    kept.push(...stored);
  }
  const given = givenPhases(team, parent).filter((name) => name !== at);
  const asked: ForkOrigin = {
    session: parentId,
    at,
    fresh,
    edited,
    ...(given.length > 0 && { given }),
  };
  checkFork(team.definition, parent, asked);
  const words = wordsFor(team, parent, asked);
  const fork = { ...asked, ...(words.length > 0 && { words }) };
  const { brief, teamFile, decisions } = parent.created;
  const model = request.model ?? parent.created.model ?? team.definition.model ?? undefined;
  const session = await createSession(
    team,
    {
      brief,
      ...(key !== undefined && { key }),
      ...(model !== undefined && { model }),
      ...(teamFile !== undefined && { teamFile }),
    },
    { drivenSoon: false },
    { fork, artifacts: kept, ...(decisions !== undefined && { decisions }) },
    parts,
  );
  if (key !== undefined) refuseOtherFork(session, asked, model, await readState(store, session.id));
  await engine.copyFork(session.id, team);
  return session;
}

const givenPhases = ({ definition }: Team, { phases }: SessionState): string[] =>
  definition.phases.flatMap(({ name }) => (phases.get(name)?.given === undefined ? [] : [name]));

/** About phases that it goes through again. */
function wordsFor({ definition }: Team, parent: SessionState, fork: ForkOrigin): readonly WordsOfPhase[] {
  const without = new Set([...takenOver(definition, parent, fork), ...begunAfresh(definition, fork)]);
  return definition.phases
    .filter(({ name }) => !without.has(name))
    .flatMap(({ name }) => wordsOf(name, everKnown(parent, name)));
}

/** A fork has the team and the brief of its parent, so these do not tell whether a key means the same work. */
function refuseOtherFork(
  { id, key }: SessionRecord,
  fork: ForkOrigin,
  model: string | undefined,
  { begun }: SessionState,
): void {
  const saying = (origin: ForkOrigin | undefined, chosen: string | undefined): string =>
    canonicalJson([origin ?? null, chosen ?? null] as unknown as Json);
  const { words: _, ...made } = begun.fork ?? {};
  const asked = begun.fork && (made as ForkOrigin);
  if (saying(asked, begun.model) === saying(fork, model)) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which is not this fork.`, {
    details: { key, session: id },
    advice: "Use another key for the fork.",
  });
}
