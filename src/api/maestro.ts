import { advise, nameOf } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, LeaseHeld, TeamInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ClaimCause, Direction } from "../journal/journal.ts";
import type { Message } from "../journal/message.ts";
import { finalStatuses } from "../journal/standing.ts";
import type { CreatedSession, FirstDriver } from "../run/create-session.ts";
import { makeFork } from "../run/make-fork.ts";
import { type Plan, planFork, planResume } from "../run/plan-cost.ts";
import { refuseToCompleted } from "../run/reject-completed.ts";
import { resultsOf, type SessionResult } from "../run/session-view.ts";
import { toChange } from "../run/spending.ts";
import { type Pruned, prune, removeDamaged } from "../store/retention.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import type { HiveParts } from "./api-parts.ts";
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
import { directionOf } from "./direction-of.ts";
import { enqueue } from "./enqueue.ts";
import type { Carried } from "./export-import.ts";
import { refuseOtherDirection, refuseOtherTerms } from "./key-conflict.ts";
import { Turns } from "./keyed-mutex.ts";
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
import { naming, refuseUnknownName, refuseWord } from "./refusals.ts";
import { Scheduler, type SchedulerParts } from "./scheduler.ts";
import { Reading } from "./session-queries.ts";
import { teamForSession } from "./session-team.ts";

/** Ten seconds are promised: work that then ignores its signal is waited for once more, and all is put away after that. */
const shutdownGraceMs = 6_000;
const deliveryPatienceMs = 10_000;
/** A crash may leave hundreds: they are taken as others end. */
const recoveryPlaces = 16;

/** Everything a front door may ask for. */
export class Maestro extends Reading {
  readonly #parts: HiveParts;
  readonly #teams = new Map<string, Team>();
  readonly #recovery: Scheduler;
  readonly #turns = new Turns();
  #closing: Promise<void> | undefined;

  constructor(parts: HiveParts) {
    super(parts);
    this.#parts = parts;
    for (const team of parts.teams) this.#teams.set(team.name, team);
    void parts.lost.announce();
    this.#recovery = this.#newScheduler({
      places: recoveryPlaces,
      teamOf: (session) => this.#teamOf(session).catch(() => undefined),
      report: parts.onNotice,
    });
  }

  /** A team whose sessions may be driven by id from now on. */
  register(team: Team): void {
    this.#teams.set(team.name, team);
  }

  /** The team that a session goes on with. */
  async team(idOrKey: string): Promise<Team> {
    return this.#teamOf(await this.find(idOrKey));
  }

  /** Creates a session and drives it. With the key of an unfinished session, goes on with that one. */
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
      await refuseOtherTerms(session, { model }, this.#parts.store, isOver ? undefined : otherModel);
    }
    if (!isNew && budget !== undefined && !finalStatuses.includes(session.status))
      await this.setBudget(session.id, budget);
    await options.beforeDrive?.(session.id);
    const cause = session.status === "queued" ? "start" : "resume";
    return this.#handle(session.id, cause, await this.#teamOf(session, team), { direction });
  }

  /** Only creates. */
  async create<PhaseName extends string>(
    team: Team<PhaseName>,
    options: CreateOptions<PhaseName>,
  ): Promise<SessionRecord> {
    checkCreateOptions(team, options);
    return (await this.#create(team, options, { kind: "none" })).session;
  }

  /** Goes on to the end, on a person's word. */
  async resume(idOrKey: string, options: ResumeOptions = {}): Promise<Session> {
    checkResumeOptions(options);
    const { team, ...preparation } = options;
    const session = await this.find(idOrKey);
    const bound = await this.#teamOf(session, team);
    if (team !== undefined && bound.fingerprint === session.teamFingerprint) this.register(team);
    const onAccepted = () => team && this.register(team);
    return this.#handle(session.id, "resume", bound, preparation, onAccepted);
  }

  /** Creates a session that waits for its turn; with the key of one that is there, that one goes on in its turn. */
  async queue<PhaseName extends string>(
    team: Team<PhaseName>,
    options: QueueOptions<PhaseName>,
  ): Promise<{ readonly id: SessionId; readonly isNew: boolean }> {
    checkQueueOptions(team, options);
    // Two that start with one key at the same moment are one session, and the second finds it whole.
    return this.#turns.run(options.key, () => this.#queue(team, options));
  }

  /** As `resume`, but the session waits for its turn; what is refused is refused now. */
  async queueResume(idOrKey: string, options: PlanOptions = {}): Promise<void> {
    checkResumeOptions(options);
    const { team: given, ...preparation } = options;
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session, given);
    const hasEdits = Object.keys(preparation.edits ?? {}).length > 0;
    if (session.status === "completed" && !hasEdits)
      return refuseToCompleted(
        session,
        { team, cause: "resume", preparation },
        { store: this.#parts.store, report: this.#parts.onNotice },
      );
    await enqueue(session.id, team, "resume", preparation, this.#parts);
  }

  /** Drives sessions in their turn once it is started; a session that cannot be taken is reported. */
  scheduler(options: Pick<SchedulerParts, "places" | "report">): Scheduler {
    return this.#newScheduler({ ...options, teamOf: (session) => this.#teamOf(session) });
  }

  /**
   * One phase alone. Idempotent: a phase that is done stays done, and one that needs help needs it until a person
   * resumes the session. While others drive the session, it waits its turn.
   */
  async executePhase(idOrKey: string, phase: string): Promise<SessionResult> {
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    return this.#handle(session.id, "start", team, { direction: { only: [phase] } }).result();
  }

  /** All that is left, to the end; resolves when it is done. */
  async executeBatch(idOrKey: string): Promise<SessionResult> {
    return (await this.resume(idOrKey)).result();
  }

  /** Goes on and parks for review after the phases named. */
  async executeMixed(idOrKey: string, options: MixedOptions): Promise<SessionResult> {
    checkMixedOptions(options);
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    const { pauseAfter } = options;
    return this.#handle(session.id, "resume", team, { direction: { pauseAfter } }).result();
  }

  /** A new session that takes over what comes before a phase and reuses what is unchanged after it; not yet driven. */
  async fork(idOrKey: string, options: ForkOptions): Promise<SessionRecord> {
    checkForkOptions(options);
    const { team: given, budget, ...request } = options;
    const parent = await this.find(idOrKey);
    const fork = await makeFork(parent.id, await this.#teamOf(parent, given), request, this.#parts);
    if (given !== undefined) this.register(given);
    if (budget !== undefined) await this.setBudget(fork.id, budget);
    return fork;
  }

  /** What comes after the phase may rest on it. */
  async approve(idOrKey: string, options: ApproveOptions = {}): Promise<void> {
    await this.#say(idOrKey, { say: "approve", ...options });
  }

  /** The phase runs again, with the note. */
  async reject(idOrKey: string, { note, ...options }: RejectOptions): Promise<void> {
    if (typeof note !== "string" || note.trim() === "")
      throw new InputInvalid("A rejection needs a note.", { advice: "Say what should be different." });
    await this.#say(idOrKey, { say: "reject", ...options, note });
  }

  /** A new limit for the session, a phase or a persona, or with null none; a session that is parked for its budget goes on when resumed. */
  async setBudget(idOrKey: string, options: BudgetOptions): Promise<void> {
    checkBudgetOptions(options);
    const { persona, phase, tokens, usd } = options;
    const budget = toChange({ tokens, usd });
    if (budget.tokens === undefined && budget.microUsd === undefined)
      throw new InputInvalid("No limit is given.", { advice: "Give tokens, dollars or both." });
    const level = persona !== undefined ? "persona" : phase !== undefined ? "phase" : "session";
    const name = persona ?? phase;
    if (name !== undefined) refuseUnknownName(level, name, (await this.show(idOrKey)).phases);
    await this.#say(idOrKey, { say: "budget", level, ...(name !== undefined && { name }), budget });
  }

  /** What a resume would keep, reuse and run. */
  async plan(idOrKey: string, options: PlanOptions = {}): Promise<Plan> {
    checkResumeOptions(options);
    const { team, ...preparation } = options;
    const session = await this.find(idOrKey);
    return planResume(session, await this.#teamOf(session, team), preparation, this.#parts);
  }

  /** What a fork would reuse and run, and what that may cost, before it exists. */
  async planFork(idOrKey: string, options: ForkOptions): Promise<Plan> {
    checkForkOptions(options);
    const { team, ...request } = options;
    const parent = await this.find(idOrKey);
    return planFork(parent, await this.#teamOf(parent, team), request, this.#parts);
  }

  /** Takes effect at the session's next step. */
  async pause(idOrKey: string): Promise<void> {
    await this.#say(idOrKey, { say: "pause" });
  }

  /** Final. */
  async cancel(idOrKey: string): Promise<void> {
    await this.#say(idOrKey, { say: "cancel" });
  }

  /** A session from another machine: it is here, and goes on when it is resumed. */
  async importCheckpoints(file: string): Promise<Carried> {
    const { importCheckpoints } = await import("./export-import.ts");
    return importCheckpoints(file, this.#parts);
  }

  async prune(options: PruneOptions): Promise<Pruned> {
    checkPruneOptions(options);
    const { damaged, ...policy } = options;
    const { clock, onNotice } = this.#parts;
    const parts = { ...this.#parts, now: clock.now(), report: onNotice };
    if (damaged !== undefined) return removeDamaged((await this.find(damaged)).id, parts);
    return prune(policy, {
      ...parts,
      removeTicketFile: (fingerprint) => this.#parts.ticketFiles.remove(fingerprint),
    });
  }

  /** Lets the next call through at once. */
  async resetBreaker(dependency: string): Promise<void> {
    const { breakers } = this.#parts.store;
    if (await breakers.reset(dependency)) return;
    const known = (await breakers.list()).map((breaker) => breaker.dependency);
    throw new InputInvalid(`There is no breaker "${dependency}".${didYouMean(dependency, known)}`, {
      advice: advise("List the breakers", "breakers"),
    });
  }

  /** Brings requests for help that are due to their tracker; gives how many got there. */
  deliverTickets(): Promise<number> {
    return this.#parts.outbox.deliverDue(AbortSignal.timeout(deliveryPatienceMs));
  }

  /** Takes sessions that continue by themselves, of the teams known here; now and then every second. */
  recover(): Promise<void> {
    return this.#recovery.start();
  }

  /** Lets go of everything cleanly; sessions under way are taken up again by whoever opens next. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { engine, projector, store, lost } = this.#parts;
    // Before anything is awaited: from here on no step begins.
    const stopped = engine.stop({ graceMs: shutdownGraceMs });
    await this.#recovery.stop();
    await stopped;
    await projector.close();
    await lost.notice().catch(() => undefined);
    await store.close();
  }

  #newScheduler(parts: Pick<SchedulerParts, "places" | "teamOf" | "report">): Scheduler {
    const deliverTickets = () => this.deliverTickets();
    return new Scheduler({ ...this.#parts, journal: this.#parts.store, deliverTickets, ...parts });
  }

  async #queue(team: Team, options: QueueOptions) {
    const { store } = this.#parts;
    const direction = directionOf(options);
    const { session, isNew } = await this.#create(team, options, { kind: "queue", direction }, direction);
    const { id, status } = session;
    // Its first commit has put it in the queue, with its budget and how far it goes.
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
      await enqueue(id, bound, "resume", isPlain ? {} : { direction }, this.#parts);
    } catch (error) {
      // Another caller was quicker, and its direction counts.
      if (!LeaseHeld.is(error) || (await this.find(id)).status !== "running") throw error;
      await refuseOtherDirection(session, direction, store);
    }
    return { id, isNew };
  }

  /** A team whose session is refused is not the one that others of its name resume with. */
  async #create(
    team: Team,
    options: CreateOptions,
    driver: FirstDriver,
    direction: Direction = {},
  ): Promise<CreatedSession> {
    const created = await createForBrief(team, options, driver, direction, this.#parts);
    const { session, isNew } = created;
    if (isNew || (await this.#teamOf(session, team)).fingerprint === session.teamFingerprint)
      this.register(team);
    return created;
  }

  #handle(
    id: SessionId,
    cause: ClaimCause,
    team: Team,
    preparation: Parameters<HiveParts["engine"]["drive"]>[3] = {},
    onAccepted?: () => void,
  ): Session {
    const { store, engine, onNotice } = this.#parts;
    const ended = engine.drive(id, team, cause, preparation, onAccepted);
    // Whoever does not ask for the result must not crash the process with it.
    ended.catch(() => undefined);
    const result = async (): Promise<SessionResult> => {
      const { tickets: raised = [], elsewhere: _, ...outcome } = await ended;
      // Who reads the result should find the ticket where it says it is; a session is parked all the same.
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
    const team = await teamForSession(session, { given, registered }, this.#parts);
    if (team !== undefined) return team;
    throw new TeamInvalid(`The team "${name}" is not registered.${didYouMean(name, this.#teams.keys())}`, {
      advice:
        "If its personas are code, start the program that made the session again: it gives them to open({ teams: [...] }). If the team is a file, name it with --team.",
    });
  }

  async #say(idOrKey: string, message: Message): Promise<void> {
    const { store, engine } = this.#parts;
    const session = await this.find(idOrKey);
    refuseWord(session, message);
    await store.signal(session.id, await naming(message, () => readState(store, session.id)));
    if (engine.isDriving(session.id)) return engine.listen();
    await engine.settle(session.id).catch(ignoreHeld);
  }
}

/** Somebody drives the session, and will find the word in its inbox. */
function ignoreHeld(error: unknown): undefined {
  if (LeaseHeld.is(error)) return undefined;
  throw error;
}
