import { advise } from "../../domain/advice.ts";
import type { Attachment } from "../../domain/attachment.ts";
import type { Budget } from "../../domain/budget.ts";
import { InputInvalid, SessionConflict, StorageFailed } from "../../domain/errors.ts";
import { isSessionId, leastIdPrefix, newSessionId, type SessionId } from "../../domain/ids.ts";
import { defaultQueue, type QueuePlace } from "../../domain/queue.ts";
import { type Checkpoint, initPhase, projectInit } from "../../journal/checkpoint.ts";
import type {
  Decision,
  Direction,
  ForkOrigin,
  GivenPhase,
  RecordedRow,
  Source,
} from "../../journal/journal.ts";
import { reduce } from "../../journal/reduce.ts";
import { emptyState } from "../../journal/session-state.ts";
import { identityOf } from "../../store/restore.ts";
import { projectStart } from "../../store/seal-phase.ts";
import { SessionFiles } from "../../store/session-files.ts";
import { readState } from "../../store/session-journal.ts";
import type { NewSession, SessionRecord, Store } from "../../store/store.ts";
import type { Team } from "../../team/define.ts";
import { definitionJson } from "../../team/definition/team-definition.ts";
import { actingPerson } from "../acting-person.ts";
import { directionRows } from "../direction.ts";
import type { OpenState } from "../drive.ts";
import { keepGivenFiles } from "./keep-given-files.ts";

const maxBriefBytes = 1024 * 1024;
const maxKeyLength = 200;
/** Long enough for the process that starts a session to claim it before another one recovers it. */
const firstClaimMs = 5_000;

/**
 * The first driver of a new session. `none`: it waits for a resume. `creator`: the caller claims it now; after a crash
 * before that, it is recovered. `queue`: it is due at once, and its direction is part of the first commit.
 */
export type FirstDriver =
  | { readonly kind: "none" }
  | { readonly kind: "creator" }
  | { readonly kind: "queue"; readonly direction: Direction };

export interface CreatedSession {
  readonly session: SessionRecord;
  /** False: a session with this key existed already. */
  readonly isNew: boolean;
}

export interface Brief extends QueuePlace {
  readonly brief: string;
  /** The caller's own name for the session. Two starts with one key are one session. */
  readonly key?: string;
  readonly model?: string;
  /** The file of the team, so that a resume finds it again. */
  readonly teamFile?: string;
}

/** The beginning of a session besides its brief. */
export interface Origin {
  readonly source?: Source;
  readonly attachments?: readonly Attachment[];
  readonly given?: readonly GivenPhase[];
  readonly fork?: ForkOrigin;
  /** How its team was planned. */
  readonly decisions?: readonly Decision[];
  /** Its limit at the start. */
  readonly budget?: Budget;
  /** The artifacts that these refer to. */
  readonly artifacts?: readonly string[];
  /** The rows of a fork's parent, and the row that sets the fork apart. */
  readonly history?: Pick<NewSession, "copied" | "appended" | "artifactsOf">;
}

/** Commits the first rows of the session, then writes its first checkpoint. With a known key, returns that session. */
export async function createSession(
  team: Team,
  { brief, key, model, teamFile, queue, priority }: Brief,
  driver: FirstDriver,
  { source, attachments, given, fork, decisions, artifacts = [], budget, history }: Origin,
  { store, clock, stateDirectory, artifacts: blobs }: OpenState,
): Promise<CreatedSession> {
  checkBrief(brief, key);
  const id = newSessionId(clock.now());
  const terms = {
    team: team.name,
    brief,
    ...(attachments !== undefined && { attachments }),
    ...(source !== undefined && { source }),
  };
  const identity = identityOf(terms);
  const existing = key === undefined ? undefined : await store.findSession(key);
  // An existing session needs no write, so that the writer need not start.
  if (existing !== undefined && existing.key === key) return sameWork(existing, terms, store);
  if (key !== undefined) await refuseBeginningOfId(key, store);
  const wakeAt = { none: undefined, creator: clock.now() + firstClaimMs, queue: clock.now() }[driver.kind];
  const directed = driver.kind === "queue" ? directionRows({}, driver.direction) : [];
  const owner = actingPerson();
  const resolvedModel = model ?? team.definition.model ?? undefined;
  const { session, row } = await store.createSession({
    id,
    team: team.name,
    teamFingerprint: team.fingerprint,
    identity,
    ...(wakeAt !== undefined && { wakeAt }),
    ...(key !== undefined && { key }),
    artifacts: [...artifacts, ...(await keepGivenFiles(team, blobs))],
    ...history,
    created: {
      kind: "session.created",
      team: team.name,
      definition: definitionJson(team.definition),
      teamFingerprint: team.fingerprint,
      brief,
      ...(attachments !== undefined && attachments.length > 0 && { attachments }),
      ...(key !== undefined && { key }),
      ...(owner !== undefined && { owner }),
      ...(resolvedModel !== undefined && { model: resolvedModel }),
      ...(teamFile !== undefined && { teamFile }),
      ...(queue !== undefined && queue !== defaultQueue && { queue }),
      ...(priority !== undefined && priority !== 0 && { priority }),
      ...(budget !== undefined && { budget }),
      ...(source !== undefined && { source }),
      ...(given !== undefined && given.length > 0 && { given }),
      ...(fork !== undefined && { fork }),
      ...(decisions !== undefined && decisions.length > 0 && { decisions }),
    },
    appended: [...(history?.appended ?? []), ...directed],
  });
  if (row === undefined) return sameWork(session, terms, store);
  await writeInit(await startOf(id, row, history, store), stateDirectory);
  // After the checkpoint: a driver that wakes up earlier would report it as missing and write it again.
  if (wakeAt !== undefined) store.wakeups.tell("due");
  return { session, isNew: true };
}

async function startOf(
  id: SessionId,
  row: RecordedRow,
  history: Origin["history"],
  store: Store,
): Promise<Checkpoint> {
  if (history === undefined) return projectInit(reduce(emptyState(id), row));
  return projectStart(await readState(store, id), store);
}

async function writeInit(init: Checkpoint, stateDirectory: string): Promise<void> {
  const files = new SessionFiles(stateDirectory, init.content.sessionId as SessionId);
  try {
    await files.writeCheckpoint(init);
  } catch (error) {
    // A driver that claimed the session meanwhile has repaired the files and written the same bytes.
    const found = await files.readCheckpoint(initPhase, 1).catch(() => undefined);
    if (found?.sha256 === init.sha256) return;
    if (!StorageFailed.is(error)) throw error;
    await files.writeCheckpoint(init);
  }
}

/** A person who types the beginning of an id would reach the session of this key instead. */
async function refuseBeginningOfId(
  key: string,
  { reports }: Pick<OpenState["store"], "reports">,
): Promise<void> {
  if (key.length < leastIdPrefix) return;
  const [other] = await reports.findByPrefix(key);
  if (other === undefined) return;
  throw new InputInvalid(`The key "${key}" is the beginning of the id of session ${other.id}.`, {
    details: { key, session: other.id },
    advice: "Choose another key: commands would take this one for that session.",
  });
}

/** The same key must mean the same work. */
async function sameWork(session: SessionRecord, terms: Terms, store: Store): Promise<CreatedSession> {
  if (session.identity === identityOf(terms)) return { session, isNew: false };
  const { id, key } = session;
  throw new SessionConflict(
    `The key "${key}" belongs to session ${id}, which has ${await otherTerms(session, terms, store)}.`,
    {
      details: { key, session: id },
      advice: [advise("Resume that session", "resume", id), advise("Or use another key.")],
    },
  );
}

type Terms = Parameters<typeof identityOf>[0];

/** Which of the terms differ, so that a person finds the typo among them. */
async function otherTerms({ id }: SessionRecord, terms: Terms, store: Store): Promise<string> {
  const { created } = await readState(store, id);
  const { team, brief, attachments, source } = created;
  const known: Terms = {
    team,
    brief,
    ...(attachments !== undefined && { attachments }),
    ...(source !== undefined && { source }),
  };
  const differs = (member: keyof Terms): boolean => {
    const { [member]: theirs } = known;
    const { [member]: ours } = terms;
    const alone = { team: "", brief: "" };
    return identityOf({ ...alone, [member]: theirs }) !== identityOf({ ...alone, [member]: ours });
  };
  const texts = [
    ...(differs("team") ? [`another team (${team})`] : []),
    ...(differs("brief") ? ["another brief"] : []),
    ...(differs("attachments") ? ["other attachments"] : []),
    ...(differs("source") ? ["another repository, or another state of it"] : []),
  ];
  return texts.length === 0 ? "another team, brief, attachments or repository" : texts.join(" and ");
}

/** Refuses a brief before it is planned or paid for. */
export function checkBrief(brief: string, key: string | undefined): void {
  const problem = typeof brief !== "string" ? "is not a text" : brief.trim() === "" ? "is empty" : undefined;
  if (problem !== undefined)
    throw new InputInvalid(`The brief ${problem}.`, { advice: "Write what the team should do." });
  if (Buffer.byteLength(brief) > maxBriefBytes) {
    throw new InputInvalid(
      `The brief has ${Buffer.byteLength(brief)} bytes; the limit is ${maxBriefBytes}.`,
      {
        advice: "Put long documents into files.",
      },
    );
  }
  if (key !== undefined && (typeof key !== "string" || key.trim() === "" || key.length > maxKeyLength)) {
    throw new InputInvalid(`The key must have 1 to ${maxKeyLength} characters.`);
  }
  if (key !== undefined && isSessionId(key))
    throw new InputInvalid(`The key "${key}" looks like the id of a session.`, {
      details: { key },
      advice: "Choose another key: commands would take this one for a session id.",
    });
}
