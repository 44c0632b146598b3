import type { Budget } from "../domain/budget.ts";
import type { Clock } from "../domain/clock.ts";
import {
  InputInvalid,
  LeaseHeld,
  SessionCanceled,
  SessionConflict,
  SessionNotFound,
  StorageFailed,
} from "../domain/errors.ts";
import { applyRecorded } from "../domain/fold.ts";
import { newSessionId, type SessionId } from "../domain/ids.ts";
import {
  type ClaimCause,
  type Decision,
  type Direction,
  type ForkOrigin,
  finalStatuses,
  type GivenPhase,
  type RecordedRow,
} from "../domain/journal.ts";
import { emptyState, type SessionState } from "../domain/session-state.ts";
import { Control } from "../execution/control.ts";
import { initPhase, projectInit } from "../state/checkpoint.ts";
import type { Lease } from "../state/lease.ts";
import type { Projector } from "../state/projector.ts";
import { repairFiles } from "../state/repair-files.ts";
import { identityOf } from "../state/restore.ts";
import { SessionFiles } from "../state/session-files.ts";
import { readState, SessionJournal } from "../state/session-journal.ts";
import type { SessionRecord, Store } from "../state/store.ts";
import type { Team } from "./define.ts";
import { definitionJson } from "./definition/team-definition.ts";
import { type DriverParts, driveSession, type Outcome, outcomeOf } from "./driver.ts";
import { copyFromParent } from "./fork.ts";
import { Inbox, obey } from "./inbox.ts";
import { recordPlan } from "./planning/record-plan.ts";
import { type Preparation, type PreparedDrive, prepareDrive } from "./prepare.ts";
import { resultsOf } from "./session-view.ts";

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

type PartsOfOneDrive = "journal" | "files" | "control" | "log" | "onText";

export interface EngineParts extends Omit<DriverParts, PartsOfOneDrive> {
  readonly store: Store;
  readonly projector: Projector;
  readonly stateDirectory: string;
  readonly clock: Clock;
  /** For the person who watches: repaired files, odd findings. */
  readonly report: (problem: string) => void;
  readonly onRows: (state: SessionState, rows: readonly RecordedRow[]) => void;
  readonly onLog: (id: SessionId, persona: string, message: string) => void;
  readonly onText: (id: SessionId, persona: string, delta: string) => void;
}

interface Driving {
  readonly control: Control;
  readonly outcome: Promise<Outcome>;
}

/** Creates sessions and drives them; one driver a session in this process, and by the lease one in all processes. */
export class TeamEngine {
  readonly #parts: EngineParts;
  readonly #driving = new Map<SessionId, Driving>();
  readonly #inbox: Inbox;
  readonly #work = new Set<Promise<unknown>>();
  #stopping = false;
  readonly #unreleased = new Map<SessionId, Lease>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#inbox = new Inbox(parts.store, (problem) => parts.report(String(problem)));
  }

  /** The session's row, then its first checkpoint. With a key that exists, the session that has it. */
  async create(
    team: Team,
    { brief, key, model, teamFile }: Brief,
    { drivenSoon }: { readonly drivenSoon: boolean },
    { given, fork, decisions, artifacts, budget }: Origin = {},
  ): Promise<SessionRecord> {
    checkBrief(brief, key);
    const { store, clock } = this.#parts;
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
    await this.#writeInit(id, row);
    return session;
  }

  /** Goes on as far as it should, or joins the driver that is at it in this process. */
  drive(id: SessionId, team: Team, cause: ClaimCause, preparation: Preparation = {}): Promise<Outcome> {
    const running = this.#driving.get(id);
    if (running !== undefined) return running.outcome;
    const control = new Control();
    // Asked for while everything stops: the next process takes it up.
    if (this.#stopping) control.stop("shutdown");
    const driving = this.#drive(id, team, cause, control, preparation);
    const outcome = this.track(driving.finally(() => this.#driving.delete(id)));
    this.#driving.set(id, { control, outcome });
    return outcome;
  }

  /** Acts on what was said about a session that nobody drives, and finishes the files of a driver that died. */
  async settle(id: SessionId): Promise<Outcome> {
    const { artifacts, projector, report } = this.#parts;
    const control = new Control();
    const settling = this.#withLease(id, "message", control, async (journal, files) => {
      const { state } = journal;
      if (!finalStatuses.includes(state.status)) obey({ journal, control });
      if (control.stopped !== undefined)
        await journal.append([{ kind: "session.status", ...outcomeOf(control.stopped) }]);
      // Nobody has to look any more; it goes on when somebody resumes it.
      else if (state.reason === "review" && !awaitsReview(state))
        await journal.append([{ kind: "session.status", status: "paused" }]);
      await repairFiles(state, files, artifacts, report);
      await projector.finish(files, state);
      return { status: state.status, ...(state.reason !== undefined && { reason: state.reason }) };
    });
    return this.track(settling);
  }

  /** Makes a fork's own what it may use of its parent, before the parent can be pruned. */
  async copyFork(id: SessionId, team: Team): Promise<void> {
    const { store } = this.#parts;
    await this.track(
      this.#withLease(id, "message", new Control(), async (journal) => {
        await copyFromParent(store, journal, team.definition);
        return { status: journal.state.status };
      }),
    );
  }

  /** The drive that is under way in this process, if there is one. */
  joined(id: SessionId): Promise<Outcome> | undefined {
    return this.#driving.get(id)?.outcome;
  }

  /** Acts at once on what was just said in this process. */
  listen(): Promise<void> {
    return this.#inbox.look();
  }

  isDriving(id: SessionId): boolean {
    return this.#driving.has(id);
  }

  /** Waited for when stopping: something that will drive, or settles, or writes last words. */
  track<T>(work: Promise<T>): Promise<T> {
    const forget = () => this.#work.delete(work);
    this.#work.add(work);
    work.then(forget, forget);
    return work;
  }

  /** Lets every driver finish its step under way and let go; the sessions are taken up again by the next process. */
  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#stopping = true;
    for (const { control } of this.#driving.values()) control.stop("shutdown");
    const hurry = setTimeout(() => {
      for (const { control } of this.#driving.values()) control.stop("shutdown", { abort: true });
    }, graceMs);
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
    clearTimeout(hurry);
  }

  async #drive(
    id: SessionId,
    team: Team,
    cause: ClaimCause,
    control: Control,
    preparation: Preparation,
  ): Promise<Outcome> {
    const { artifacts, projector, report, onLog, onText, store } = this.#parts;
    const prepared = await prepareDrive(await this.#require(id), team, preparation, this.#parts);
    return this.#withLease(id, cause, control, async (journal, files) => {
      // Somebody may have canceled it since; a claim does not undo that.
      if (journal.state.status === "canceled") throw canceled(id);
      await repairFiles(journal.state, files, artifacts, report);
      await copyFromParent(store, journal, team.definition);
      await recordPlan(journal);
      await direct(journal, cause, prepared);
      const outcome = await driveSession(team, {
        ...this.#parts,
        journal,
        files,
        control,
        log: (persona, message) => onLog(id, persona, message),
        onText: (persona, delta) => onText(id, persona, delta),
      });
      await projector.finish(files, journal.state);
      return { ...outcome, results: resultsOf(journal.state) };
    });
  }

  async #withLease(
    id: SessionId,
    cause: ClaimCause,
    control: Control,
    use: (journal: SessionJournal, files: SessionFiles) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { store, projector, onRows } = this.#parts;
    await this.#releaseLate(id);
    // A driver that ended cleanly leaves nothing to recover from.
    const claiming = store.claimSession(id, (found) =>
      cause === "recovery" && found === "free" ? "start" : cause,
    );
    // A long history is read while the claim is on its way; nobody needs it if the claim fails.
    const reading = readState(store, id);
    reading.catch(() => undefined);
    const { lease } = await claiming;
    const files = this.#files(id);
    let journal: SessionJournal;
    let outcome: Outcome;
    try {
      journal = await SessionJournal.replay(store, lease, await reading, (rows) => {
        projector.changed(files, journal.state);
        onRows(journal.state, rows);
      });
      const leaveInbox = this.#inbox.watch(id, { journal, control });
      try {
        outcome = await use(journal, files);
      } finally {
        await leaveInbox();
        projector.letGo(journal.state);
      }
    } finally {
      // Failing to let go is not failing: the lease of a dead process is taken over anyway.
      await store.releaseSession(lease).catch((error: unknown) => {
        this.#unreleased.set(id, lease);
        this.#parts.report(String(error));
      });
    }
    return (await this.#hearLate(journal.state)) ?? outcome;
  }

  /** A full disk may have kept this process from letting go; it must not be locked out by its own lease. */
  async #releaseLate(id: SessionId): Promise<void> {
    const lease = this.#unreleased.get(id);
    if (lease === undefined) return;
    await this.#parts.store.releaseSession(lease);
    this.#unreleased.delete(id);
  }

  /** Who speaks while a driver lets go finds the lease held and relies on the driver; so the last one out looks again. */
  async #hearLate({ id, status, messages }: SessionState): Promise<Outcome | undefined> {
    if (finalStatuses.includes(status)) return undefined;
    if (messages.length === 0 && !(await this.#parts.store.hasWords(id))) return undefined;
    return this.settle(id).catch((error: unknown) => {
      if (LeaseHeld.is(error)) return undefined;
      throw error;
    });
  }

  async #require(id: SessionId): Promise<SessionRecord> {
    const session = await this.#parts.store.findSession(id);
    if (session === undefined)
      throw new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
    if (session.status === "canceled") throw canceled(id);
    return session;
  }

  async #writeInit(id: SessionId, row: RecordedRow): Promise<void> {
    const state = emptyState(id);
    applyRecorded(state, row);
    const init = projectInit(state);
    const files = this.#files(id);
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

  #files(id: SessionId): SessionFiles {
    return new SessionFiles(this.#parts.stateDirectory, id);
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

function canceled(id: SessionId): SessionCanceled {
  return new SessionCanceled(`Session ${id} was canceled; that is final.`, {
    advice: "Start a new session.",
  });
}

/** What a person wants is on record before anything acts on it; going on by itself changes nothing. */
async function direct(journal: SessionJournal, cause: ClaimCause, prepared: PreparedDrive): Promise<void> {
  const { rows, artifacts, direction } = prepared;
  const { pauseAfter } = journal.state.direction;
  // Where to pause was said for the whole session; how far to go, for one drive.
  const plain: Direction = pauseAfter === undefined ? {} : { pauseAfter };
  const wanted = direction ?? (cause === "recovery" ? journal.state.direction : plain);
  const same = JSON.stringify(wanted) === JSON.stringify(journal.state.direction);
  const all = same ? rows : [...rows, { kind: "session.directed", ...wanted } as const];
  if (all.length > 0) await journal.append(all, { artifacts });
}

function awaitsReview({ phases }: SessionState): boolean {
  return [...phases.values()].some(({ review }) => review === "awaiting");
}

/** What can be refused is refused before anybody plans or pays for it. */
export function checkBrief(brief: string, key: string | undefined): void {
  if (typeof brief !== "string" || brief.trim() === "")
    throw new InputInvalid("The brief is empty.", { advice: "Say what the team should do." });
  if (Buffer.byteLength(brief) > maxBriefBytes) {
    throw new InputInvalid(
      `The brief has ${Buffer.byteLength(brief)} bytes; at most ${maxBriefBytes} are taken.`,
      {
        advice: "Put long documents into files.",
      },
    );
  }
  if (key !== undefined && (key.trim() === "" || key.length > maxKeyLength)) {
    throw new InputInvalid(`A key has 1 to ${maxKeyLength} characters.`);
  }
}
