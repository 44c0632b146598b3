import { LeaseHeld, StateRemoved } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { unsettledIn } from "../journal/effect.ts";
import type { ClaimCause, Entry, StepKind } from "../journal/journal.ts";
import { awaiting } from "../journal/reset-phase.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalStatuses, reasonOf, type Standing } from "../journal/standing.ts";
import { StepBodyCache } from "../journal/step-body-cache.ts";
import { resultsOf } from "../journal/view.ts";
import { unansweredIn } from "../journal/waiting-call.ts";
import type { Lease } from "../store/journal.ts";
import { areCheckpointsWhole } from "../store/list-checkpoints.ts";
import { refuseOlderDatabase } from "../store/newer-work.ts";
import type { Projector } from "../store/projector.ts";
import { repairFiles } from "../store/repair-files.ts";
import { SessionFiles } from "../store/session-files.ts";
import {
  continueReplay,
  type Replay,
  type RowListeners,
  readState,
  replaySession,
  SessionJournal,
} from "../store/session-journal.ts";
import type { Claim, SessionRecord } from "../store/store.ts";
import { WholeFiles } from "../store/whole-files.ts";
import type { Team } from "../team/define.ts";
import { ActiveDrive, type DriveRequest } from "./active-drive.ts";
import { refuseUntrusted } from "./acts/trust.ts";
import { Control } from "./control.ts";
import { directionRows } from "./direction.ts";
import type { EngineSettings } from "./drive.ts";
import { driveSession, type Outcome, outcomeOf } from "./driver.ts";
import { Inbox, obey } from "./inbox.ts";
import {
  canceled,
  type Preparation,
  prepareClaimed,
  prepareDrive,
  preparedNothing,
  refuseToCompleted,
  requireSession,
  seeBefore,
} from "./prepare.ts";
import { refuseUnconfinedDrive } from "./programs/refuse-unconfined.ts";
import { refuseUnreachable } from "./refuse-unreachable.ts";
import { Rest } from "./rest.ts";

export interface EngineOptions extends EngineSettings, RowListeners {
  readonly projector: Projector;
  /** Notices for people, such as repaired files. */
  readonly report: (problem: string) => void;
  readonly onLog: (id: SessionId, persona: string, message: string) => void;
  readonly onText: (id: SessionId, persona: string, delta: string) => void;
  /** Undefined when there is no listener. */
  readonly onStep: ((id: SessionId, persona: string, step: StepKind, name: string) => void) | undefined;
}

/** Drives sessions: one driver per session in this process and, by the lease, in all processes. */
export class TeamEngine {
  readonly #options: EngineOptions;
  readonly #driving = new Map<SessionId, ActiveDrive>();
  readonly #inbox: Inbox;
  readonly #work = new Set<Promise<unknown>>();
  readonly #whole = new WholeFiles();
  /** Shared by all sessions that this process drives. */
  readonly #bodies = new StepBodyCache();
  #stopping = false;
  readonly #unreleased = new Map<SessionId, Lease>();

  constructor(options: EngineOptions) {
    this.#options = options;
    this.#inbox = new Inbox(options.store, (problem) => options.report(String(problem)));
    // Work under way is aborted: it cannot be recorded, and another process may do it again.
    options.store.maintenance.onRemoved((cause) => {
      for (const { control } of this.#driving.values()) control.stop("shutdown", { abort: true, cause });
    });
  }

  /** Drives the session as far as requested. A drive of it in this process is joined or waited for. */
  drive(
    id: SessionId,
    team: Team,
    cause: ClaimCause,
    preparation: Preparation = {},
    onAccepted: () => void = () => undefined,
  ): Promise<Outcome> {
    return this.track(this.#driveInTurn(id, { team, cause, preparation, onAccepted }));
  }

  /** Throws what a drive would be refused with. The scheduler asks before it claims, so the journal has no row of it. */
  async refuse(session: SessionRecord, team: Team): Promise<void> {
    const { id, teamFingerprint } = session;
    const { store, artifacts } = this.#options;
    await refuseUnconfinedDrive(id, team, {}, this.#options);
    if (team.fingerprint !== teamFingerprint)
      await prepareDrive(await readState(store, id), team, {}, artifacts);
    await refuseUnreachable(session, team, this.#options);
  }

  /** Drives a session that the scheduler takes. Without a team, only completes the work of its dead driver. */
  driveTaken(id: SessionId, team: Team | undefined, claim: Promise<Claim>): Promise<Outcome> {
    if (team === undefined) return this.settle(id, claim);
    const running = this.#driving.get(id);
    // A claim that no drive uses is released. A second release does nothing.
    const release = () =>
      claim.then(({ lease }) => this.#options.store.releaseSession(lease)).catch(() => undefined);
    if (running !== undefined) void release();
    const drive = running?.outcome ?? this.#begin(id, { team, cause: "recovery", preparation: {}, claim });
    return this.track(drive.catch((error) => release().then(() => Promise.reject(error as Error))));
  }

  /** Applies the signals of a session without a driver, and completes the files of a driver that died. */
  async settle(id: SessionId, claim?: Promise<Claim>): Promise<Outcome> {
    const { store, artifacts, projector, report, clock } = this.#options;
    const control = new Control();
    const settling = this.#withLease(id, "signal", control, undefined, claim, async (journal, files) => {
      if (!finalStatuses.includes(journal.state.standing.status)) obey({ journal, control });
      if (control.stopped !== undefined)
        await journal.append([{ kind: "session.status", ...outcomeOf(control.stopped) }]);
      // A person has answered; the session waits for a resume.
      else if (isAnswered(journal.state))
        await journal.append([{ kind: "session.status", status: "paused", by: "answer" }]);
      else {
        const woken = wokenAt(clock.now(), journal.state);
        if (woken !== undefined) await journal.append([{ kind: "session.status", ...woken }]);
      }
      await repairFiles(journal.state, files, { store, artifacts, report, whole: this.#whole });
      await projector.finish(files, journal);
      return journal.state.standing;
    });
    return this.track(settling);
  }

  /** SessionConflict where the files of the session have sealed work that the database does not know. */
  refuseOlderDatabase(id: SessionId): Promise<void> {
    return refuseOlderDatabase(id, this.#options);
  }

  /** Applies at once a signal that this process has just sent. */
  listen(): Promise<void> {
    return this.#inbox.look();
  }

  isDriving(id: SessionId): boolean {
    return this.#driving.has(id);
  }

  /** `stop` waits for this work: a drive to come, a settlement, a last message. */
  track<T>(work: Promise<T>): Promise<T> {
    const forget = () => this.#work.delete(work);
    this.#work.add(work);
    work.then(forget, forget);
    return work;
  }

  /** Every driver finishes its running step and releases its session. The next process resumes the sessions. */
  async stop({ graceMs }: { readonly graceMs: number }): Promise<void> {
    this.#stopping = true;
    for (const { control } of this.#driving.values()) control.stop("shutdown");
    const hurry = setTimeout(() => {
      for (const { control } of this.#driving.values()) control.stop("shutdown", { abort: true });
    }, graceMs);
    while (this.#work.size > 0) await Promise.allSettled(this.#work);
    clearTimeout(hurry);
  }

  async #driveInTurn(id: SessionId, request: DriveRequest): Promise<Outcome> {
    for (;;) {
      const running = this.#driving.get(id);
      if (running === undefined) return this.#begin(id, request);
      const outcome = await running.serve(request);
      if (outcome !== undefined) return outcome;
    }
  }

  #begin(id: SessionId, request: DriveRequest): Promise<Outcome> {
    const active = new ActiveDrive(id, request);
    // Requested during a shutdown: the next process resumes it.
    if (this.#stopping) active.control.stop("shutdown");
    this.#driving.set(id, active);
    return active.begin(() => this.#drive(id, request, active).finally(() => this.#driving.delete(id)));
  }

  async #drive(id: SessionId, request: DriveRequest, active: ActiveDrive): Promise<Outcome> {
    const { artifacts, projector, report, onLog, onText, onStep, store } = this.#options;
    const { team, cause, preparation } = request;
    const { control } = active;
    const session = await requireSession(store, id);
    const hasEdits = Object.keys(preparation.edits ?? {}).length > 0;
    if (session.status === "completed" && !hasEdits) {
      await refuseToCompleted(session, team, preparation, store, report);
      return this.#finish(id);
    }
    await refuseUntrusted(id, store);
    await refuseUnconfinedDrive(id, team, preparation, this.#options);
    const seen = await seeBefore(session, team, preparation, store);
    const seq = seen?.state.head.seq ?? 0;
    // Refusals come before the first write.
    const first =
      seen === undefined ? preparedNothing : await prepareDrive(seen.state, team, preparation, artifacts);
    return this.#withLease(id, cause, control, seen, request.claim, async (journal, files) => {
      // It may have been canceled since; a claim does not undo that.
      if (journal.state.standing.status === "canceled") throw canceled(id);
      const append = (row: Entry) => journal.append([row]);
      const prepared =
        seen === undefined
          ? first
          : await prepareClaimed({ ...first, seq }, journal.state, team, preparation, artifacts, append);
      await repairFiles(journal.state, files, { store, artifacts, report, whole: this.#whole });
      const keepsDirection = cause === "recovery" && prepared.direction === undefined;
      const rows = [
        ...prepared.rows,
        ...(keepsDirection ? [] : directionRows(journal.state.direction, prepared.direction)),
      ];
      // A request is recorded before anything acts on it. A recovery changes nothing.
      if (rows.length > 0) await journal.append(rows, { artifacts: prepared.artifacts });
      request.onAccepted?.();
      active.directed(journal.state.direction);
      const outcome = await driveSession(team, {
        ...this.#options,
        journal,
        files,
        control,
        rest: new Rest(control, this.#options.clock),
        log: (persona, message) => onLog(id, persona, message),
        onText: (persona, delta) => onText(id, persona, delta),
        onStep: onStep && ((persona, step, name) => onStep(id, persona, step, name)),
        onPlanned: (planned) => active.addTeam(planned),
      });
      await projector.finish(files, journal);
      return { ...outcome, results: resultsOf(journal.state) };
    });
  }

  /** The driver of a completed session may have died before its last file, and files may be damaged since. */
  async #finish(id: SessionId): Promise<Outcome> {
    const { store, stateDirectory } = this.#options;
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
    const { store, projector } = this.#options;
    await this.#releaseLate(id);
    if (taken === undefined) await this.refuseOlderDatabase(id);
    // After a clean end there is nothing to recover from.
    const claiming =
      taken ??
      store.claimSession(id, (found) => (cause === "recovery" && found === "free" ? "start" : cause));
    // A long history is read while the claim is on its way, and dropped if the claim fails.
    const reading = seen === undefined ? replaySession(store, id, this.#bodies) : Promise.resolve(seen);
    reading.catch(() => undefined);
    const { lease, received, row } = await claiming;
    const files = this.#files(id);
    let journal: SessionJournal;
    let outcome: Outcome;
    try {
      const replay = await continueReplay(store, await reading);
      journal = new SessionJournal(store, lease, replay, this.#options);
      projector.follow(files, journal);
      // Listeners get the rows of the claim before any other.
      this.#options.onRows?.(journal.state, [...received, row]);
      const leaveInbox = this.#inbox.watch(id, { journal, control });
      try {
        outcome = await use(journal, files);
      } finally {
        await leaveInbox();
        projector.letGo(journal);
      }
    } finally {
      // A failed release is not an error: the lease of a dead process is taken over anyway.
      await store.releaseSession(lease).catch((error: unknown) => {
        this.#unreleased.set(id, lease);
        // The drive itself ends with that error.
        if (!StateRemoved.is(error)) this.#options.report(String(error));
      });
    }
    return (await this.#settleLate(journal.state)) ?? outcome;
  }

  /** A full disk may have prevented a release; this process must not be locked out by its own lease. */
  async #releaseLate(id: SessionId): Promise<void> {
    const lease = this.#unreleased.get(id);
    if (lease === undefined) return;
    await this.#options.store.releaseSession(lease);
    this.#unreleased.delete(id);
  }

  /** A signal that arrives during a release finds the lease held and relies on the driver, so the driver looks again. */
  async #settleLate(state: SessionState): Promise<Outcome | undefined> {
    const { id, standing, signals } = state;
    if (finalStatuses.includes(standing.status)) return undefined;
    const isSettled = signals.length === 0 && !isAnswered(state);
    if (isSettled && !(await this.#options.store.reports.hasSignals(id))) return undefined;
    return this.settle(id).catch((error: unknown) => {
      if (LeaseHeld.is(error)) return undefined;
      throw error;
    });
  }

  #files(id: SessionId): SessionFiles {
    return new SessionFiles(this.#options.stateDirectory, id);
  }
}

/** The session is parked for what a person has already answered. */
function isAnswered(state: SessionState): boolean {
  const reason = reasonOf(state.standing);
  if (reason === "unknown") return unsettledIn(state.effects).length === 0;
  return reason === "review" && awaiting(state).length + unansweredIn(state).length === 0;
}

/** It rests until a wait is over, and a person has answered a call since: that one need not wait. */
function wokenAt(now: number, { standing, calls }: SessionState): Standing | undefined {
  if (!("restsSince" in standing)) return undefined;
  const { restsSince } = standing;
  const isAnswered = [...calls.values()].some(({ word }) => word !== undefined && word.saidAt >= restsSince);
  return isAnswered ? { ...standing, wakeAt: Math.min(now, standing.wakeAt) } : undefined;
}
