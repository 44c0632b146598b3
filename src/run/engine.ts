import type { Clock } from "../domain/clock.ts";
import { LeaseHeld } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause, Entry, RecordedRow, StepKind } from "../journal/journal.ts";
import { awaiting } from "../journal/reset-phase.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalStatuses, reasonOf } from "../journal/standing.ts";
import { StepBodyCache } from "../journal/step-body-cache.ts";
import { resultsOf } from "../journal/view.ts";
import type { Lease } from "../store/journal.ts";
import { areCheckpointsWhole } from "../store/list-checkpoints.ts";
import type { Projector } from "../store/projector.ts";
import { repairFiles } from "../store/repair-files.ts";
import { SessionFiles } from "../store/session-files.ts";
import {
  continueReplay,
  type Replay,
  readState,
  replaySession,
  SessionJournal,
} from "../store/session-journal.ts";
import type { Claim, Store } from "../store/store.ts";
import { WholeFiles } from "../store/whole-files.ts";
import type { Team } from "../team/define.ts";
import { type Asked, UnderWay } from "./active-drive.ts";
import { Control } from "./control.ts";
import { directionRows } from "./direction.ts";
import { canceled, requireSession } from "./drivable.ts";
import { type DriverParts, driveSession, type Outcome, outcomeOf } from "./driver.ts";
import { Inbox, obey } from "./inbox.ts";
import { type Preparation, prepareClaimed, prepareDrive, preparedNothing, seeBefore } from "./prepare.ts";
import { refuseToCompleted } from "./reject-completed.ts";

type PartsOfOneDrive = "journal" | "files" | "control" | "log" | "onText" | "onStep" | "onPlanned";

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
  /** Undefined when no caller listens. */
  readonly onStep: ((id: SessionId, persona: string, step: StepKind, name: string) => void) | undefined;
}

/** Drives sessions; one driver a session in this process, and by the lease one in all processes. */
export class TeamEngine {
  readonly #parts: EngineParts;
  readonly #driving = new Map<SessionId, UnderWay>();
  readonly #inbox: Inbox;
  readonly #work = new Set<Promise<unknown>>();
  readonly #whole = new WholeFiles();
  /** Shared by all sessions that this process drives. */
  readonly #bodies = new StepBodyCache();
  #stopping = false;
  readonly #unreleased = new Map<SessionId, Lease>();

  constructor(parts: EngineParts) {
    this.#parts = parts;
    this.#inbox = new Inbox(parts.store, (problem) => parts.report(String(problem)));
  }

  /** Goes on as far as it is asked to, after or together with the drive that is at it in this process. */
  drive(
    id: SessionId,
    team: Team,
    cause: ClaimCause,
    preparation: Preparation = {},
    onAccepted: () => void = () => undefined,
  ): Promise<Outcome> {
    return this.track(this.#driveInTurn(id, { team, cause, preparation, onAccepted }));
  }

  /** Drives a session that the scheduler takes; `team`: undefined only finishes what its dead driver left. */
  driveTaken(id: SessionId, team: Team | undefined, claim: Promise<Claim>): Promise<Outcome> {
    if (team === undefined) return this.settle(id, claim);
    const running = this.#driving.get(id);
    // A claim that no drive uses is released; to release twice does nothing.
    const release = () =>
      claim.then(({ lease }) => this.#parts.store.releaseSession(lease)).catch(() => undefined);
    if (running !== undefined) void release();
    const drive = running?.outcome ?? this.#begin(id, { team, cause: "recovery", preparation: {}, claim });
    return this.track(drive.catch((error) => release().then(() => Promise.reject(error as Error))));
  }

  /** Acts on what was said about a session that nobody drives, and finishes the files of a driver that died. */
  async settle(id: SessionId, claim?: Promise<Claim>): Promise<Outcome> {
    const { store, artifacts, projector, report } = this.#parts;
    const control = new Control();
    const settling = this.#withLease(id, "message", control, undefined, claim, async (journal, files) => {
      if (!finalStatuses.includes(journal.state.standing.status)) obey({ journal, control });
      if (control.stopped !== undefined)
        await journal.append([{ kind: "session.status", ...outcomeOf(control.stopped) }]);
      // Nobody has to look any more; it goes on when somebody resumes it.
      else if (isAnswered(journal.state))
        await journal.append([{ kind: "session.status", status: "paused" }]);
      await repairFiles(journal.state, files, { store, artifacts, report, whole: this.#whole });
      await projector.finish(files, journal);
      return journal.state.standing;
    });
    return this.track(settling);
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

  async #driveInTurn(id: SessionId, asked: Asked): Promise<Outcome> {
    for (;;) {
      const running = this.#driving.get(id);
      if (running === undefined) return this.#begin(id, asked);
      const outcome = await running.serve(asked);
      if (outcome !== undefined) return outcome;
    }
  }

  #begin(id: SessionId, asked: Asked): Promise<Outcome> {
    const underWay = new UnderWay(id, asked);
    // Asked for while everything stops: the next process takes it up.
    if (this.#stopping) underWay.control.stop("shutdown");
    this.#driving.set(id, underWay);
    return underWay.begin(() => this.#drive(id, asked, underWay).finally(() => this.#driving.delete(id)));
  }

  async #drive(id: SessionId, asked: Asked, underWay: UnderWay): Promise<Outcome> {
    const { artifacts, projector, report, onLog, onText, onStep, store } = this.#parts;
    const { team, cause, preparation } = asked;
    const { control } = underWay;
    const session = await requireSession(store, id);
    const hasEdits = Object.keys(preparation.edits ?? {}).length > 0;
    if (session.status === "completed" && !hasEdits) {
      await refuseToCompleted(session, asked, this.#parts);
      return this.#finish(id);
    }
    const seen = await seeBefore(session, team, preparation, store);
    const seq = seen?.state.head.seq ?? 0;
    // What can be refused is refused before anything is written.
    const first =
      seen === undefined ? preparedNothing : await prepareDrive(seen.state, team, preparation, { artifacts });
    return this.#withLease(id, cause, control, seen, asked.claim, async (journal, files) => {
      // It may have been canceled since; a claim does not undo that.
      if (journal.state.standing.status === "canceled") throw canceled(id);
      const append = (row: Entry) => journal.append([row]);
      const prepared =
        seen === undefined
          ? first
          : await prepareClaimed({ prepared: first, seq }, journal.state, team, preparation, {
              artifacts,
              append,
            });
      await repairFiles(journal.state, files, { store, artifacts, report, whole: this.#whole });
      const goesOn = cause === "recovery" && prepared.direction === undefined;
      const rows = [
        ...prepared.rows,
        ...(goesOn ? [] : directionRows(journal.state.direction, prepared.direction)),
      ];
      // What a person wants is on record before anything acts on it; going on by itself changes nothing.
      if (rows.length > 0) await journal.append(rows, { artifacts: prepared.artifacts });
      asked.onAccepted?.();
      underWay.directed(journal.state.direction);
      const outcome = await driveSession(team, {
        ...this.#parts,
        journal,
        files,
        control,
        log: (persona, message) => onLog(id, persona, message),
        onText: (persona, delta) => onText(id, persona, delta),
        onStep: onStep && ((persona, step, name) => onStep(id, persona, step, name)),
        onPlanned: (planned) => underWay.goesBy(planned),
      });
      await projector.finish(files, journal);
      return { ...outcome, results: resultsOf(journal.state) };
    });
  }

  /** The driver of a completed session may have died before the last file, and files may have been damaged since. */
  async #finish(id: SessionId): Promise<Outcome> {
    const { store, stateDirectory } = this.#parts;
    const isAbandoned = (await store.reports.abandoned()).includes(id);
    if (isAbandoned || !(await areCheckpointsWhole(stateDirectory, await readState(store, id), store)))
      await this.settle(id).catch((error: unknown) => {
        if (!LeaseHeld.is(error)) throw error;
      });
    return { status: "completed" };
  }

  async #withLease(
    id: SessionId,
    cause: ClaimCause,
    control: Control,
    seen: Replay | undefined,
    taken: Promise<Claim> | undefined,
    use: (journal: SessionJournal, files: SessionFiles) => Promise<Outcome>,
  ): Promise<Outcome> {
    const { store, projector, onRows } = this.#parts;
    await this.#releaseLate(id);
    // A driver that ended cleanly leaves nothing to recover from.
    const claiming =
      taken ??
      store.claimSession(id, (found) => (cause === "recovery" && found === "free" ? "start" : cause));
    // A long history is read while the claim is on its way; nobody needs it if the claim fails.
    const reading = seen === undefined ? replaySession(store, id, this.#bodies) : Promise.resolve(seen);
    reading.catch(() => undefined);
    const { lease, row } = await claiming;
    const files = this.#files(id);
    let journal: SessionJournal;
    let outcome: Outcome;
    try {
      const replay = await continueReplay(store, await reading);
      journal = new SessionJournal(store, lease, replay, (rows) => {
        projector.changed(files, journal);
        onRows(journal.state, rows);
      });
      // Whoever listens hears that it goes on before anything else does.
      onRows(journal.state, [row]);
      const leaveInbox = this.#inbox.watch(id, { journal, control });
      try {
        outcome = await use(journal, files);
      } finally {
        await leaveInbox();
        projector.letGo(journal);
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
  async #hearLate(state: SessionState): Promise<Outcome | undefined> {
    const { id, standing, messages } = state;
    if (finalStatuses.includes(standing.status)) return undefined;
    const isHeard = messages.length === 0 && !isAnswered(state);
    if (isHeard && !(await this.#parts.store.reports.hasSignals(id))) return undefined;
    return this.settle(id).catch((error: unknown) => {
      if (LeaseHeld.is(error)) return undefined;
      throw error;
    });
  }

  #files(id: SessionId): SessionFiles {
    return new SessionFiles(this.#parts.stateDirectory, id);
  }
}

/** It waits for a reviewer who has spoken. */
function isAnswered(state: SessionState): boolean {
  return reasonOf(state.standing) === "review" && awaiting(state).length === 0;
}
