import { didYouMean } from "../domain/closest.ts";
import { LeaseHeld, TeamInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause, Direction } from "../journal/journal.ts";
import { finalStatuses } from "../journal/standing.ts";
import { resultsOf, type SessionResult } from "../journal/view.ts";
import type { CreatedSession, FirstDriver } from "../run/acts/create-session.ts";
import { makeFork } from "../run/acts/fork.ts";
import { type Plan, planFork, planResume, refuseRepeatingFork } from "../run/acts/plan-cost.ts";
import { refuseUntrusted, trustSession } from "../run/acts/trust.ts";
import { directionOf } from "../run/direction.ts";
import type { Outcome } from "../run/driver.ts";
import { type Preparation, refuseToCompleted } from "../run/prepare.ts";
import { refuseUnconfinedFork } from "../run/programs/refuse-unconfined.ts";
import { type RestoredWork, restoreNewer } from "../store/restore-newer.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import {
  checkCreateOptions,
  checkForkOptions,
  checkImportOptions,
  checkMixedOptions,
  checkPruneOptions,
  checkQueueOptions,
  checkResumeOptions,
  checkStartOptions,
} from "./check-options.ts";
import { createForBrief } from "./create-for-brief.ts";
import type { Imported, ImportOptions } from "./export-import.ts";
import { refuseOtherDirection, refuseOtherModel, refuseOtherTerms } from "./key-conflict.ts";
import {
  type CreateOptions,
  type ForkOptions,
  type MixedOptions,
  type PlanOptions,
  type PruneOptions,
  type QueueOptions,
  type ResumeOptions,
  type Session,
  type StartOptions,
} from "./options.ts";
import { type PrunedState, pruneState } from "./prune-state.ts";
import { enqueue, KeyedMutex } from "./queue.ts";
import { resetBreaker } from "./reset-breaker.ts";
import { Scheduler, type SchedulerParts } from "./scheduler.ts";
import type { Services } from "./services.ts";
import { SessionDeliveries } from "./session-deliveries.ts";
import { SessionDrives } from "./session-drives.ts";
import { teamForSession } from "./session-team.ts";

/** A shutdown takes at most ten seconds: this wait, one more for work that ignores its signal, and closing. */
const shutdownGraceMs = 6_000;
/** A crash may leave hundreds of sessions. This many are resumed at once. */
const recoveryPlaces = 16;

/**
 * All writes to sessions. SessionDeliveries has the deliveries, SessionSignals the decisions of people,
 * SessionQueries the reads.
 */
export class Maestro extends SessionDeliveries {
  readonly #services: Services;
  readonly #teams = new Map<string, Team>();
  readonly #recovery: Scheduler;
  readonly #drives: SessionDrives;
  readonly #perKey = new KeyedMutex();
  #closing: Promise<void> | undefined;

  constructor(services: Services) {
    super(services);
    this.#services = services;
    for (const team of services.teams) this.#teams.set(team.name, team);
    void services.lost.announce();
    this.#drives = new SessionDrives(services);
    this.#recovery = this.#newScheduler({
      places: recoveryPlaces,
      teamOf: (session) => this.#teamOf(session).catch(() => undefined),
      report: services.onNotice,
    });
  }

  /** Registers a team, so that its sessions can be driven by id. */
  register(team: Team): void {
    this.#teams.set(team.name, team);
  }

  /** The team that resumes the session. */
  async team(idOrKey: string): Promise<Team> {
    return this.#teamOf(await this.find(idOrKey));
  }

  /** Creates a session and drives it. With the key of an unfinished session, resumes that one. */
  async start<PhaseName extends string>(
    team: Team<PhaseName>,
    options: StartOptions<PhaseName>,
  ): Promise<Session> {
    checkStartOptions(team, options);
    const { key, model, budget } = options;
    const direction = directionOf(options);
    const { session, isNew } = await this.#create(team, options, { kind: "creator" }, direction);
    if (key !== undefined) await refuseOtherModel(session, model, this.#services.store);
    if (!isNew && budget !== undefined && !finalStatuses.includes(session.status))
      await this.setBudget(session.id, budget);
    if (options.deliver !== undefined) await this.order(session, options.deliver);
    await options.beforeDrive?.(session.id);
    const cause = session.status === "queued" ? "start" : "resume";
    return this.#handle(session.id, cause, await this.#teamOf(session, team), { direction });
  }

  /** Creates a session without driving it. */
  async create<PhaseName extends string>(
    team: Team<PhaseName>,
    options: CreateOptions<PhaseName>,
  ): Promise<SessionRecord> {
    checkCreateOptions(team, options);
    const { session } = await this.#create(team, options, { kind: "none" });
    if (options.deliver !== undefined) await this.order(session, options.deliver);
    return session;
  }

  /** Resumes a session to its end. A person's resume grants new rounds. */
  async resume(idOrKey: string, options: ResumeOptions = {}): Promise<Session> {
    checkResumeOptions(options);
    const { team, trust = false, ...preparation } = options;
    const session = await this.find(idOrKey);
    await this.ensureTrusted(session.id, { trust });
    const bound = await this.#teamOf(session, team);
    if (team !== undefined && bound.fingerprint === session.teamFingerprint) this.register(team);
    const onAccepted = () => team && this.register(team);
    return this.#handle(session.id, "resume", bound, preparation, onAccepted);
  }

  /** Creates a session that waits in the queue. With the key of an existing session, queues that one. */
  async queue<PhaseName extends string>(
    team: Team<PhaseName>,
    options: QueueOptions<PhaseName>,
  ): Promise<{ readonly id: SessionId; readonly isNew: boolean }> {
    checkQueueOptions(team, options);
    // Two concurrent starts with one key make one session: the second call waits for the first.
    return this.#perKey.run(options.key, () => this.#queue(team, options));
  }

  /** Like `resume`, but the session waits in the queue. Refusals are thrown now. */
  async queueResume(idOrKey: string, options: PlanOptions = {}): Promise<void> {
    checkResumeOptions(options);
    const { team: given, ...preparation } = options;
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session, given);
    const hasEdits = Object.keys(preparation.edits ?? {}).length > 0;
    if (session.status === "completed" && !hasEdits)
      return refuseToCompleted(session, team, preparation, this.#services.store, this.#services.onNotice);
    await enqueue(session.id, team, "resume", preparation, this.#services);
  }

  /** A scheduler that drives due sessions once it is started. Sessions that cannot be taken are reported. */
  scheduler(options: Pick<SchedulerParts, "places" | "report">): Scheduler {
    return this.#newScheduler({ ...options, teamOf: (session) => this.#teamOf(session) });
  }

  /**
   * Runs one phase. Idempotent: a completed phase stays completed, and a phase that needs help needs it until a person
   * resumes the session. Waits while another call in this process drives the session.
   */
  async executePhase(idOrKey: string, phase: string): Promise<SessionResult> {
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    return this.#handle(session.id, "start", team, { direction: { only: [phase] } }).result();
  }

  /** Runs the remaining phases to the end. */
  async executeBatch(idOrKey: string): Promise<SessionResult> {
    return (await this.resume(idOrKey)).result();
  }

  /** Resumes the session and parks it for review after the named phases. */
  async executeMixed(idOrKey: string, options: MixedOptions): Promise<SessionResult> {
    checkMixedOptions(options);
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    const { pauseAfter } = options;
    return this.#handle(session.id, "resume", team, { direction: { pauseAfter } }).result();
  }

  /** Creates a session that takes over the phases before `at` and reuses unchanged work after it. It is not driven yet. */
  async fork(idOrKey: string, options: ForkOptions): Promise<SessionRecord> {
    checkForkOptions(options);
    const { team: given, budget, ...request } = options;
    const parent = await this.find(idOrKey);
    await this.ensureTrusted(parent.id);
    const team = await this.#teamOf(parent, given);
    await refuseUnconfinedFork(team, request.at, this.#services.sandbox);
    await refuseRepeatingFork(parent, team, request, this.#services);
    const fork = await makeFork(parent.id, team, request, this.#services);
    if (given !== undefined) this.register(given);
    if (budget !== undefined) await this.setBudget(fork.id, budget);
    return fork;
  }

  /** Predicts which personas a resume would keep, reuse and run. */
  async plan(idOrKey: string, options: PlanOptions = {}): Promise<Plan> {
    checkResumeOptions(options);
    const { team, ...preparation } = options;
    const session = await this.find(idOrKey);
    return planResume(session, await this.#teamOf(session, team), preparation, this.#services);
  }

  /** Predicts which personas a fork would reuse and run, and the cost. */
  async planFork(idOrKey: string, options: ForkOptions): Promise<Plan> {
    checkForkOptions(options);
    const { team, ...request } = options;
    const parent = await this.find(idOrKey);
    return planFork(parent, await this.#teamOf(parent, team), request, this.#services);
  }

  /** Imports a session from another machine. It waits for a resume, which needs trust. */
  async importCheckpoints(file: string, options: ImportOptions = {}): Promise<Imported> {
    checkImportOptions(options);
    const { importCheckpoints } = await import("./export-import.ts");
    return importCheckpoints(file, options, this.#services);
  }

  /** Adds checkpoints that are newer than the database to it. */
  async restoreCheckpoints(idOrKey: string): Promise<RestoredWork> {
    return restoreNewer((await this.find(idOrKey)).id, this.#services);
  }

  /** Throws NotTrusted for an imported session that no person trusts, now or before. */
  async ensureTrusted(idOrKey: string, { trust = false } = {}): Promise<void> {
    const { id } = await this.find(idOrKey);
    await (trust ? trustSession(id, this.#services) : refuseUntrusted(id, this.#services.store));
  }

  async prune(options: PruneOptions): Promise<PrunedState> {
    checkPruneOptions(options);
    return pruneState(options, this.#services, (damaged) => this.find(damaged));
  }

  /** Closes the breaker, so that the next call is made immediately. */
  resetBreaker(dependency: string): Promise<void> {
    return resetBreaker(dependency, this.#services.store);
  }

  /** Resumes sessions of known teams that continue automatically: now, then every second. */
  recover(): Promise<void> {
    return this.#recovery.start();
  }

  /** Stops cleanly. The next process resumes the running sessions. */
  close(): Promise<void> {
    this.#closing ??= this.#services.store.close(this.#stop());
    return this.#closing;
  }

  async #stop(): Promise<void> {
    const { engine, projector, lost } = this.#services;
    // Called before the first await, so that no further step begins.
    const stopped = engine.stop({ graceMs: shutdownGraceMs });
    await Promise.all([this.#recovery.stop(), this.#drives.stop()]);
    await stopped;
    await projector.close();
    await lost.notice().catch(() => undefined);
  }

  #newScheduler(options: Pick<SchedulerParts, "places" | "teamOf" | "report">): Scheduler {
    const deliverTickets = () => this.deliverTickets();
    const teamOf = async (session: SessionRecord) =>
      this.#unlessRefused(session, await options.teamOf(session));
    const { store: journal } = this.#services;
    return new Scheduler({ ...this.#services, journal, deliverTickets, ...options, teamOf });
  }

  async #queue(team: Team, options: QueueOptions) {
    const { store } = this.#services;
    const direction = directionOf(options);
    const { session, isNew } = await this.#create(team, options, { kind: "queue", direction }, direction);
    const { id, status } = session;
    // Its first commit already queued it, with its budget and direction.
    if (isNew) return { id, isNew };
    await refuseOtherTerms(session, options, store);
    if (status === "completed") return { id, isNew };
    const [listed] = await store.reports.listed([id]);
    if (status === "running" || (status === "queued" && listed?.wakeAt !== undefined)) {
      await refuseOtherDirection(session, direction, store);
      return { id, isNew };
    }
    const bound = await this.#teamOf(session, team);
    const isPlain = Object.keys(direction).length === 0 && options.budget === undefined;
    try {
      await enqueue(id, bound, "resume", isPlain ? {} : { direction }, this.#services);
    } catch (error) {
      // Another caller was faster, and its direction applies.
      if (!LeaseHeld.is(error) || (await this.find(id)).status !== "running") throw error;
      await refuseOtherDirection(session, direction, store);
    }
    return { id, isNew };
  }

  /** The team of a refused session is not registered for others with its name. */
  async #create(
    team: Team,
    options: CreateOptions,
    driver: FirstDriver,
    direction: Direction = {},
  ): Promise<CreatedSession> {
    const created = await createForBrief(team, options, driver, direction, this.#services);
    const { session, isNew } = created;
    if (isNew || (await this.#teamOf(session, team)).fingerprint === session.teamFingerprint)
      this.register(team);
    return created;
  }

  #handle(
    id: SessionId,
    cause: ClaimCause,
    team: Team,
    preparation: Preparation = {},
    onAccepted?: () => void,
  ): Session {
    const ended = this.#drives.toTheEnd(id, team, cause, preparation, onAccepted);
    // A result that the caller does not await must not crash the process.
    ended.catch(() => undefined);
    return { id, result: async () => this.#resultOf(id, await ended) };
  }

  async #resultOf(id: SessionId, ended: Outcome): Promise<SessionResult> {
    const { store, onNotice } = this.#services;
    const { tickets: raised = [], elsewhere: _, performed, ...outcome } = ended;
    // The ticket should be delivered before the caller reads the result. The session is parked in any case.
    const isRequested = (performed?.tickets.length ?? 0) > 0;
    if (raised.length > 0 || isRequested)
      await this.deliverTickets().catch((error) => onNotice(String(error)));
    const tickets = await this.ticketsOf(raised);
    const results = outcome.results ?? resultsOf(await readState(store, id));
    return { id, ...outcome, results, ticket: tickets[0] ?? null, tickets };
  }

  async #teamOf(session: SessionRecord, given?: Team): Promise<Team> {
    const { team: name } = session;
    const registered = this.#teams.get(name);
    const team = await teamForSession(session, { given, registered }, this.#services);
    if (team !== undefined) return team;
    throw new TeamInvalid(`The team "${name}" is not registered.${didYouMean(name, this.#teams.keys())}`, {
      advice:
        "If its personas are code, start the program that passes them to open({ teams: [...] }). If the team is a file, name it with --team.",
    });
  }

  /** A session whose drive would be refused needs a person, so it is not claimed. */
  async #unlessRefused(session: SessionRecord, team: Team | undefined): Promise<Team | undefined> {
    if (team !== undefined) await this.#services.engine.refuse(session, team);
    return team;
  }

  /** A signal may have made a session due. */
  protected override look(): void {
    this.#drives.look();
  }
}
