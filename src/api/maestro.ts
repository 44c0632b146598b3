import { advise, nameOf } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, LeaseHeld, TeamInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause, Direction, Signal } from "../journal/journal.ts";
import { finalStatuses } from "../journal/standing.ts";
import { resultsOf, type SessionResult } from "../journal/view.ts";
import type { CreatedSession, FirstDriver } from "../run/acts/create-session.ts";
import { makeFork } from "../run/acts/fork.ts";
import { type Plan, planFork, planResume } from "../run/acts/plan-cost.ts";
import { directionOf } from "../run/direction.ts";
import { type Preparation, refuseToCompleted } from "../run/prepare.ts";
import { toChange } from "../run/spending.ts";
import { type Pruned, prune, removeDamaged } from "../store/retention.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import {
  checkBudgetOptions,
  checkCreateOptions,
  checkForkOptions,
  checkMixedOptions,
  checkPruneOptions,
  checkQueueOptions,
  checkResumeOptions,
  checkStartOptions,
} from "./check-options.ts";
import { createForBrief } from "./create-for-brief.ts";
import type { Carried } from "./export-import.ts";
import { refuseOtherDirection, refuseOtherTerms } from "./key-conflict.ts";
import {
  type ApproveOptions,
  type BudgetOptions,
  type CreateOptions,
  type ForkOptions,
  type MixedOptions,
  type PlanOptions,
  type PruneOptions,
  type QueueOptions,
  type RejectOptions,
  type ResumeOptions,
  type Session,
  type StartOptions,
} from "./options.ts";
import { enqueue, KeyedMutex } from "./queue.ts";
import { Scheduler, type SchedulerParts } from "./scheduler.ts";
import type { Services } from "./services.ts";
import { SessionQueries } from "./session-queries.ts";
import { teamForSession } from "./session-team.ts";
import { refuseSignal, refuseUnknownName, withReviewedPhase } from "./signals.ts";

/** A shutdown takes at most ten seconds: this wait, one more for work that ignores its signal, and the closing. */
const shutdownGraceMs = 6_000;
const deliveryPatienceMs = 10_000;
/** A crash may leave hundreds of sessions: they are resumed as others end. */
const recoveryPlaces = 16;

/** All acts on sessions. The reads are in SessionQueries. */
export class Maestro extends SessionQueries {
  readonly #services: Services;
  readonly #teams = new Map<string, Team>();
  readonly #recovery: Scheduler;
  readonly #perKey = new KeyedMutex();
  #closing: Promise<void> | undefined;

  constructor(services: Services) {
    super(services);
    this.#services = services;
    for (const team of services.teams) this.#teams.set(team.name, team);
    void services.lost.announce();
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

  /** The team that resumes a session. */
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
    if (key !== undefined && model !== undefined) {
      const otherModel = [
        advise("Use another key."),
        advise("Or resume it with that model", "resume", nameOf(session), "--model", model),
      ];
      const isOver = finalStatuses.includes(session.status);
      await refuseOtherTerms(session, { model }, this.#services.store, isOver ? undefined : otherModel);
    }
    if (!isNew && budget !== undefined && !finalStatuses.includes(session.status))
      await this.setBudget(session.id, budget);
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
    return (await this.#create(team, options, { kind: "none" })).session;
  }

  /** Resumes a session to its end. A person's resume grants new rounds. */
  async resume(idOrKey: string, options: ResumeOptions = {}): Promise<Session> {
    checkResumeOptions(options);
    const { team, ...preparation } = options;
    const session = await this.find(idOrKey);
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
    // Two concurrent starts with one key are one session, and the second finds it complete.
    return this.#perKey.run(options.key, () => this.#queue(team, options));
  }

  /** As `resume`, but the session waits in the queue. Refusals come now. */
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
    const fork = await makeFork(parent.id, await this.#teamOf(parent, given), request, this.#services);
    if (given !== undefined) this.register(given);
    if (budget !== undefined) await this.setBudget(fork.id, budget);
    return fork;
  }

  /** Approves the phase that is waiting for review. */
  async approve(idOrKey: string, options: ApproveOptions = {}): Promise<void> {
    await this.#signal(idOrKey, { action: "approve", ...options });
  }

  /** Rejects the phase that is waiting for review. It runs again with the note. */
  async reject(idOrKey: string, { note, ...options }: RejectOptions): Promise<void> {
    if (typeof note !== "string" || note.trim() === "")
      throw new InputInvalid("A rejection needs a note.", { advice: "Write what should change." });
    await this.#signal(idOrKey, { action: "reject", ...options, note });
  }

  /** Sets or removes the limit of the session, a phase or a persona. A session parked for its budget waits for a resume. */
  async setBudget(idOrKey: string, options: BudgetOptions): Promise<void> {
    checkBudgetOptions(options);
    const { persona, phase, tokens, usd } = options;
    const budget = toChange({ tokens, usd });
    if (budget.tokens === undefined && budget.microUsd === undefined)
      throw new InputInvalid("A budget change needs a limit.", { advice: "Set tokens, dollars or both." });
    const level = persona !== undefined ? "persona" : phase !== undefined ? "phase" : "session";
    const name = persona ?? phase;
    if (name !== undefined) refuseUnknownName(level, name, (await this.show(idOrKey)).phases);
    await this.#signal(idOrKey, { action: "budget", level, ...(name !== undefined && { name }), budget });
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

  /** Pauses the session at its next step. */
  async pause(idOrKey: string): Promise<void> {
    await this.#signal(idOrKey, { action: "pause" });
  }

  /** Cancels the session, which is final. */
  async cancel(idOrKey: string): Promise<void> {
    await this.#signal(idOrKey, { action: "cancel" });
  }

  /** Imports a session from another machine. It waits for a resume. */
  async importCheckpoints(file: string): Promise<Carried> {
    const { importCheckpoints } = await import("./export-import.ts");
    return importCheckpoints(file, this.#services);
  }

  async prune(options: PruneOptions): Promise<Pruned> {
    checkPruneOptions(options);
    const { damaged, ...policy } = options;
    const { clock, onNotice } = this.#services;
    const parts = { ...this.#services, now: clock.now(), report: onNotice };
    if (damaged !== undefined) return removeDamaged((await this.find(damaged)).id, parts);
    return prune(policy, {
      ...parts,
      removeTicketFile: (fingerprint) => this.#services.ticketFiles.remove(fingerprint),
    });
  }

  /** Closes the breaker, so that the next call is made at once. */
  async resetBreaker(dependency: string): Promise<void> {
    const { breakers } = this.#services.store;
    if (await breakers.reset(dependency)) return;
    const known = (await breakers.list()).map((breaker) => breaker.dependency);
    throw new InputInvalid(`There is no breaker "${dependency}".${didYouMean(dependency, known)}`, {
      advice: advise("List the breakers", "breakers"),
    });
  }

  /** Delivers due tickets to their tracker. Returns the number delivered. */
  deliverTickets(): Promise<number> {
    return this.#services.outbox.deliverDue(AbortSignal.timeout(deliveryPatienceMs));
  }

  /** Resumes sessions that continue automatically, of the teams known here: now, and then every second. */
  recover(): Promise<void> {
    return this.#recovery.start();
  }

  /** Stops cleanly. The next process resumes the running sessions. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { engine, projector, store, lost } = this.#services;
    // Called before the first await, so that no further step begins.
    const stopped = engine.stop({ graceMs: shutdownGraceMs });
    await this.#recovery.stop();
    await stopped;
    await projector.close();
    await lost.notice().catch(() => undefined);
    await store.close();
  }

  #newScheduler(options: Pick<SchedulerParts, "places" | "teamOf" | "report">): Scheduler {
    const deliverTickets = () => this.deliverTickets();
    return new Scheduler({ ...this.#services, journal: this.#services.store, deliverTickets, ...options });
  }

  async #queue(team: Team, options: QueueOptions) {
    const { store } = this.#services;
    const direction = directionOf(options);
    const { session, isNew } = await this.#create(team, options, { kind: "queue", direction }, direction);
    const { id, status } = session;
    // Its first commit has queued it, with its budget and direction.
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
      // Another caller was faster, and its direction counts.
      if (!LeaseHeld.is(error) || (await this.find(id)).status !== "running") throw error;
      await refuseOtherDirection(session, direction, store);
    }
    return { id, isNew };
  }

  /** The team of a refused session is not registered for others of its name. */
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
    const { store, engine, onNotice } = this.#services;
    const ended = engine.drive(id, team, cause, preparation, onAccepted);
    // A result that the caller does not await must not crash the process.
    ended.catch(() => undefined);
    const result = async (): Promise<SessionResult> => {
      const { tickets: raised = [], elsewhere: _, ...outcome } = await ended;
      // The ticket should be delivered when the caller reads the result. The session is parked in any case.
      if (raised.length > 0) await this.deliverTickets().catch((error) => onNotice(String(error)));
      const tickets = await this.ticketsOf(raised);
      const results = outcome.results ?? resultsOf(await readState(store, id));
      return { id, ...outcome, results, ticket: tickets[0] ?? null, tickets };
    };
    return { id, result };
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

  async #signal(idOrKey: string, message: Signal): Promise<void> {
    const { store, engine } = this.#services;
    const session = await this.find(idOrKey);
    refuseSignal(session, message);
    await store.signal(session.id, await withReviewedPhase(message, () => readState(store, session.id)));
    if (engine.isDriving(session.id)) return engine.listen();
    await engine.settle(session.id).catch(ignoreHeld);
  }
}

/** Another process drives the session, and finds the signal in its inbox. */
function ignoreHeld(error: unknown): undefined {
  if (LeaseHeld.is(error)) return undefined;
  throw error;
}
