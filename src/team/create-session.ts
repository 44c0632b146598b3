import type { Budget } from "../domain/budget.ts";
import type { Clock } from "../domain/clock.ts";
import { InputInvalid, SessionConflict, StorageFailed } from "../domain/errors.ts";
import { applyRecorded } from "../domain/fold.ts";
import { isSessionId, newSessionId, type SessionId } from "../domain/ids.ts";
import type { Decision, ForkOrigin, GivenPhase, RecordedRow } from "../domain/journal.ts";
import { emptyState } from "../domain/session-state.ts";
import { initPhase, projectInit } from "../state/checkpoint.ts";
import { identityOf } from "../state/restore.ts";
import { SessionFiles } from "../state/session-files.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import { definitionJson } from "./definition/team-definition.ts";

const maxBriefBytes = 1024 * 1024;
const maxKeyLength = 200;
/** Long enough for whoever starts a session to claim it before anybody recovers it. */
const firstClaimMs = 5_000;

export interface Brief {
  readonly brief: string;
  /** A name of the caller's own: starting twice with one key is one session. */
  readonly key?: string;
  readonly model?: string;
  /** Where the team was read from, so that a resume finds it again. */
  readonly teamFile?: string;
}

/** What a session starts with besides its brief. */
export interface Origin {
  readonly given?: readonly GivenPhase[];
  readonly fork?: ForkOrigin;
  /** How its team was planned. */
  readonly decisions?: readonly Decision[];
  /** The limit it is started with. */
  readonly budget?: Budget;
  /** What these point to. */
  readonly artifacts?: readonly string[];
}

export interface CreateParts {
  readonly store: Store;
  readonly clock: Clock;
  readonly stateDirectory: string;
}

/** The session's row, then its first checkpoint. With a key that exists, the session that has it. */
export async function createSession(
  team: Team,
  { brief, key, model, teamFile }: Brief,
  { drivenSoon }: { readonly drivenSoon: boolean },
  { given, fork, decisions, artifacts, budget }: Origin,
  { store, clock, stateDirectory }: CreateParts,
): Promise<SessionRecord> {
  checkBrief(brief, key);
  const id = newSessionId(clock.now());
  const identity = identityOf(team.name, brief);
  const existing = key === undefined ? undefined : await store.findSession(key);
  // Going on needs no write, and so no waiting for the writer to start.
  if (existing !== undefined && existing.key === key) return sameWork(existing, identity);
  const resolvedModel = model ?? team.definition.model ?? undefined;
  const { session, row } = await store.createSession({
    id,
    team: team.name,
    teamFingerprint: team.fingerprint,
    identity,
    // Killed before its first claim, it is taken up by whoever recovers.
    ...(drivenSoon && { wakeAt: clock.now() + firstClaimMs }),
    ...(key !== undefined && { key }),
    ...(artifacts !== undefined && { artifacts }),
    created: {
      kind: "session.created",
      team: team.name,
      definition: definitionJson(team.definition),
      teamFingerprint: team.fingerprint,
      brief,
      ...(key !== undefined && { key }),
      ...(resolvedModel !== undefined && { model: resolvedModel }),
      ...(teamFile !== undefined && { teamFile }),
      ...(budget !== undefined && { budget }),
      ...(given !== undefined && given.length > 0 && { given }),
      ...(fork !== undefined && { fork }),
      ...(decisions !== undefined && decisions.length > 0 && { decisions }),
    },
  });
  if (row === undefined) return sameWork(session, identity);
  await writeInit(id, row, stateDirectory);
  return session;
}

async function writeInit(id: SessionId, row: RecordedRow, stateDirectory: string): Promise<void> {
  const state = emptyState(id);
  applyRecorded(state, row);
  const init = projectInit(state);
  const files = new SessionFiles(stateDirectory, id);
  try {
    await files.writeCheckpoint(init);
  } catch (error) {
    // Whoever has claimed the session meanwhile tidied up and wrote the same bytes.
    const found = await files.readCheckpoint(initPhase, 1).catch(() => undefined);
    if (found?.sha256 === init.sha256) return;
    if (!StorageFailed.is(error)) throw error;
    await files.writeCheckpoint(init);
  }
}

/** The same key must mean the same work. */
function sameWork(session: SessionRecord, identity: string): SessionRecord {
  if (session.identity === identity) return session;
  const { id, key } = session;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which has another team or brief.`, {
    details: { key, session: id },
    advice: "Use another key, or the same team and brief to go on with that session.",
  });
}

/** What can be refused is refused before anybody plans or pays for it. */
export function checkBrief(brief: string, key: string | undefined): void {
  const problem = typeof brief !== "string" ? "is not a text" : brief.trim() === "" ? "is empty" : undefined;
  if (problem !== undefined)
    throw new InputInvalid(`The brief ${problem}.`, { advice: "Say what the team should do." });
  if (Buffer.byteLength(brief) > maxBriefBytes) {
    throw new InputInvalid(
      `The brief has ${Buffer.byteLength(brief)} bytes; at most ${maxBriefBytes} are taken.`,
      {
        advice: "Put long documents into files.",
      },
    );
  }
  if (key !== undefined && (typeof key !== "string" || key.trim() === "" || key.length > maxKeyLength)) {
    throw new InputInvalid(`A key has 1 to ${maxKeyLength} characters.`);
  }
  if (key !== undefined && isSessionId(key))
    throw new InputInvalid(`The key "${key}" looks like the id of a session.`, {
      details: { key },
      advice: "Choose another: who says it later would be understood to mean that session.",
    });
}
