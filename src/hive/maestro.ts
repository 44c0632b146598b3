import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, LeaseHeld, SessionConflict, TeamInvalid } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { type ClaimCause, type Direction, finalStatuses, type Message } from "../domain/journal.ts";
import { isAccepted } from "../domain/session-state.ts";
import { LostSessions } from "../state/lost-sessions.ts";
import { type Pruned, prune, type RetentionPolicy } from "../state/retention.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord } from "../state/store.ts";
import type { Team } from "../team/define.ts";
import type { Outcome } from "../team/driver.ts";
import { type Brief, checkBrief } from "../team/engine.ts";
import { giveAll } from "../team/given.ts";
import { makeFork } from "../team/make-fork.ts";
import { type Plan, planFork, planResume } from "../team/plan-cost.ts";
import { Recovery } from "../team/recovery.ts";
import { resultsOf, type SessionResult } from "../team/session-view.ts";
import { toBudget } from "../team/spending.ts";
import { type Carried, importCheckpoints } from "./carry.ts";
import { refuseImpossibleStart } from "./check-start.ts";
import { directionOf } from "./direction-of.ts";
import { enqueue } from "./enqueue.ts";
import type { HiveParts } from "./hive-parts.ts";
import {
  type BudgetOptions,
  type ForkOptions,
  type ResumeOptions,
  type Session,
  type StartOptions,
} from "./options.ts";
import { Reading } from "./reading.ts";
import { checkIntegration, refuseWord } from "./refusals.ts";
import { teamForBrief, teamForSession } from "./session-team.ts";
import { Turns } from "./turns.ts";

const shutdownGraceMs = 8_000;
const deliveryPatienceMs = 10_000;

/** Everything a front door may ask for. */
export class Maestro extends Reading {
  readonly #parts: HiveParts;
  readonly #teams = new Map<string, Team>();
  readonly #recovery: Recovery;
  readonly #turns = new Turns();
  #closing: Promise<void> | undefined;

  constructor(parts: HiveParts) {
    super(parts);
    this.#parts = parts;
    for (const team of parts.teams) this.#teams.set(team.name, team);
    void parts.lost.announce();
    this.#recovery = new Recovery({
      ...parts,
      teamOf: (session) => this.#teamOf(session).catch(() => undefined),
      alsoDue: () => this.deliverTickets(),
      report: parts.onNotice,
    });
  }

  /** A team whose sessions may be driven by id from now on. */
  register(team: Team): void {
    this.#teams.set(team.name, team);
  }

  /** Creates a session and drives it. With the key of an unfinished session, goes on with that one. */
  async start<PhaseName extends string>(
    team: Team<PhaseName>,
    options: StartOptions<PhaseName>,
  ): Promise<Session> {
    const { budget, key, given = {} } = options;
    const isNew = key === undefined || (await this.#parts.store.findSession(key)) === undefined;
    if (isNew) refuseImpossibleStart(team, directionOf(options), Object.keys(given));
    // With a budget, nobody may take it up before the budget is said.
    const session = await this.#create(team, options, { drivenSoon: budget === undefined });
    if (budget !== undefined && !finalStatuses.includes(session.status))
      await this.setBudget(session.id, budget);
    const cause = session.status === "queued" ? "start" : "resume";
    return this.#handle(session.id, cause, await this.#teamOf(session, team), {
      direction: directionOf(options),
    });
  }

  /** Only creates. */
  create<PhaseName extends string>(
    team: Team<PhaseName>,
    options: Pick<StartOptions<PhaseName>, keyof Brief | "given">,
  ): Promise<SessionRecord> {
    return this.#create(team, options, { drivenSoon: false });
  }

  /** Goes on to the end, on a person's word. */
  async resume(idOrKey: string, { team, ...preparation }: ResumeOptions = {}): Promise<Session> {
    const session = await this.find(idOrKey);
    if (team !== undefined) this.#teams.set(team.name, team);
    return this.#handle(session.id, "resume", await this.#teamOf(session, team), preparation);
  }

  /** Creates a session that waits for its turn; with the key of one that is there, that one goes on in its turn. */
  queue<PhaseName extends string>(
    team: Team<PhaseName>,
    options: StartOptions<PhaseName>,
  ): Promise<{ readonly id: SessionId; readonly isNew: boolean }> {
    // Two that start with one key at the same moment are one session, and the second finds it whole.
    return this.#turns.run(options.key, () => this.#queue(team, options));
  }

  /** As `resume`, but the session waits for its turn; what is refused is refused now. */
  async queueResume(
    idOrKey: string,
    { team: given, ...preparation }: ResumeOptions & { readonly direction?: Direction } = {},
  ): Promise<void> {
    const session = await this.find(idOrKey);
    if (session.status === "completed") return;
    const team = await this.#teamOf(session, given);
    await enqueue(session.id, team, "resume", preparation, this.#parts);
  }

  /** Goes on with a session that nobody drives: what a crash left, or whose turn has come. Resolves when the drive ends. */
  async takeUp(id: SessionId): Promise<void> {
    const { engine } = this.#parts;
    const session = await this.find(id);
    const goesOn = ["queued", "running"].includes(session.status) || session.reason === "breaker";
    await (goesOn ? engine.drive(session.id, await this.#teamOf(session), "recovery") : engine.settle(id));
  }

  /** Whether this process drives the session. */
  isDriving(id: SessionId): boolean {
    return this.#parts.engine.isDriving(id);
  }

  /** One phase alone. Idempotent: a phase that is done stays done, and whoever drives the session now is joined. */
  async executePhase(idOrKey: string, phase: string): Promise<SessionResult> {
    const { store, engine } = this.#parts;
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    for (;;) {
      const joined = engine.joined(session.id);
      if (joined === undefined) break;
      await joined;
      const state = await readState(store, session.id);
      if (isAccepted(state.phases.get(phase))) break;
    }
    return this.#handle(session.id, "resume", team, { direction: { only: [phase] } }).result();
  }

  /** All that is left, to the end; resolves when it is done. */
  async executeBatch(idOrKey: string): Promise<SessionResult> {
    return (await this.resume(idOrKey)).result();
  }

  /** Goes on and parks for review after the phases named. */
  async executeMixed(
    idOrKey: string,
    options: { readonly pauseAfter: readonly string[] },
  ): Promise<SessionResult> {
    const session = await this.find(idOrKey);
    const team = await this.#teamOf(session);
    const { pauseAfter } = options;
    return this.#handle(session.id, "resume", team, { direction: { pauseAfter } }).result();
  }

  /** A new session that takes over what comes before a phase and reuses what is unchanged after it; not yet driven. */
  async fork(idOrKey: string, { team: given, ...options }: ForkOptions): Promise<SessionRecord> {
    const parent = await this.find(idOrKey);
    if (given !== undefined) this.#teams.set(given.name, given);
    return makeFork(parent.id, await this.#teamOf(parent, given), options, this.#parts);
  }

  /** What comes after the phase may rest on it. */
  async approve(idOrKey: string, { note }: { readonly note?: string } = {}): Promise<void> {
    await this.#say(idOrKey, { say: "approve", ...(note !== undefined && { note }) });
  }

  /** The phase runs again, with the note. */
  async reject(idOrKey: string, { note }: { readonly note: string }): Promise<void> {
    if (typeof note !== "string" || note.trim() === "")
      throw new InputInvalid("A rejection needs a note.", { advice: "Say what should be different." });
    await this.#say(idOrKey, { say: "reject", note });
  }

  /** A new limit for the session, a phase or a persona; a session that is parked for its budget goes on when resumed. */
  async setBudget(idOrKey: string, { persona, phase, tokens, usd }: BudgetOptions): Promise<void> {
    const budget = toBudget({ tokens, usd });
    if (budget.tokens === undefined && budget.microUsd === undefined)
      throw new InputInvalid("No limit is given.", { advice: "Give --tokens, --usd or both." });
    const level = persona !== undefined ? "persona" : phase !== undefined ? "phase" : "session";
    const name = persona ?? phase;
    await this.#refuseUnknown(idOrKey, level, name);
    await this.#say(idOrKey, { say: "budget", level, ...(name !== undefined && { name }), budget });
  }

  /** What a resume would keep, reuse and run. */
  async plan(
    idOrKey: string,
    _preparation: Pick<ResumeOptions, "edits" | "acceptChanges"> = {},
  ): Promise<Plan> {
    const session = await this.find(idOrKey);
    return planResume(session, await this.#teamOf(session), this.#parts);
  }

  /** What a fork would reuse and run, and what that may cost, before it exists. */
  async planFork(idOrKey: string, { team, ...options }: ForkOptions): Promise<Plan> {
    const parent = await this.find(idOrKey);
    return planFork(parent, await this.#teamOf(parent, team), options, this.#parts);
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
    const { store, stateDirectory, onNotice } = this.#parts;
    const carried = await importCheckpoints(file, this.#parts, async (id) => {
      if ((await store.findSession(id)) === undefined) return;
      throw new SessionConflict(`Session ${id} is here already.`, {
        details: { session: id },
        advice: `Look at it with: maestro show ${id}`,
      });
    });
    // One that looks now: the other has looked before the files were here.
    await new LostSessions(stateDirectory, store, onNotice).bringBack(carried.session);
    return carried;
  }

  async prune(policy: RetentionPolicy): Promise<Pruned> {
    const { store, artifacts, clock } = this.#parts;
    return prune(policy, { store, artifacts, stateDirectory: this.stateDirectory, now: clock.now() });
  }

  /** Lets the next call through at once. */
  async resetBreaker(dependency: string): Promise<void> {
    const { breakers } = this.#parts.store;
    if (await breakers.reset(dependency)) return;
    const known = (await breakers.list()).map((breaker) => breaker.dependency);
    throw new InputInvalid(`There is no breaker "${dependency}".${didYouMean(dependency, known)}`, {
      advice: "List them with: maestro breakers",
    });
  }

  /** Brings requests for help that are due to their tracker; gives how many got there. */
  deliverTickets(): Promise<number> {
    return this.#parts.outbox.deliverDue(AbortSignal.timeout(deliveryPatienceMs));
  }

  /** Takes up what a crash left, of the teams known here; looks again every second. */
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
    await lost.list().catch(() => undefined);
    await store.close();
  }

  async #queue(team: Team, { budget, ...options }: StartOptions) {
    const { store } = this.#parts;
    const { key } = options;
    const isNew = key === undefined || (await store.findSession(key))?.key !== key;
    const direction = directionOf(options);
    const isPlain = budget === undefined && Object.keys(direction).length === 0;
    // Killed before its limits are on record, it must not be taken up without them.
    const session = await this.#create(team, options, { drivenSoon: isPlain });
    const { id, status } = session;
    if (status === "completed" || status === "running") return { id, isNew };
    const [listed] = await store.listing.find([id]);
    if (!isNew && status === "queued" && listed?.wakeAt !== undefined) return { id, isNew };
    if (isNew && budget !== undefined) await this.setBudget(id, budget);
    const cause = isNew ? "start" : "resume";
    const bound = await this.#teamOf(session, team);
    await enqueue(id, bound, cause, isPlain ? {} : { direction }, this.#parts).catch(ignoreHeld);
    return { id, isNew };
  }

  async #create(
    team: Team,
    { given = {}, ...brief }: Pick<StartOptions, keyof Brief | "given">,
    options: { drivenSoon: boolean },
  ): Promise<SessionRecord> {
    const { engine, store, model, artifacts, lost } = this.#parts;
    const { key, teamFile } = brief;
    this.#teams.set(team.name, team);
    checkBrief(brief.brief, key);
    const known =
      key === undefined ? undefined : ((await store.findSession(key)) ?? (await lost.bringBackByKey(key)));
    const chosen = brief.model ?? model;
    // What was planned once is not planned again.
    const planned =
      known !== undefined && known.key === key
        ? { team, decisions: [] }
        : await teamForBrief(team, { brief: brief.brief, model: chosen }, this.#parts);
    checkIntegration(planned.team, this.#parts.onNotice);
    const origin = await giveAll(planned.team.definition, given, artifacts);
    return engine.create(
      planned.team,
      {
        brief: brief.brief,
        ...(key !== undefined && { key }),
        ...(teamFile !== undefined && { teamFile }),
        ...(chosen !== undefined && { model: chosen }),
      },
      options,
      { ...origin, decisions: planned.decisions },
    );
  }

  #handle(
    id: SessionId,
    cause: ClaimCause,
    team: Team,
    preparation: Parameters<HiveParts["engine"]["drive"]>[3] = {},
  ): Session {
    const { store, engine } = this.#parts;
    const isEdited = Object.keys(preparation.edits ?? {}).length > 0;
    const ended = engine.track(
      this.#endOf(id, { isEdited }).then((end) => end ?? engine.drive(id, team, cause, preparation)),
    );
    // Whoever does not ask for the result must not crash the process with it.
    ended.catch(() => undefined);
    const result = async (): Promise<SessionResult> => {
      const outcome = await ended;
      // Who reads the result should find the ticket where it says it is.
      if (outcome.ticket !== undefined) await this.deliverTickets();
      const results = outcome.results ?? resultsOf(await readState(store, id));
      return { id, ...outcome, results, ticket: await this.ticketOf(outcome.ticket) };
    };
    return { id, result };
  }

  /** A completed session has nothing left to drive, unless a person edits its past. */
  async #endOf(id: SessionId, { isEdited }: { isEdited: boolean }): Promise<Outcome | undefined> {
    const { store, engine } = this.#parts;
    const session = await store.findSession(id);
    if (session?.status !== "completed" || isEdited) return undefined;
    // Its driver may have died after the last row and before the last file.
    if ((await store.findAbandoned()).includes(id)) await engine.settle(id).catch(ignoreHeld);
    return { status: "completed" };
  }

  async #teamOf(session: SessionRecord, given?: Team): Promise<Team> {
    const { team: name } = session;
    const registered = this.#teams.get(name);
    const team = await teamForSession(session, { given, registered }, this.#parts);
    if (team !== undefined) return team;
    throw new TeamInvalid(`The team "${name}" is not registered.${didYouMean(name, this.#teams.keys())}`, {
      advice: "Give its personas' code to open({ teams: [...] }), or its file with --team.",
    });
  }

  async #refuseUnknown(idOrKey: string, level: string, name: string | undefined): Promise<void> {
    if (name === undefined) return;
    const { phases } = await this.show(idOrKey);
    const known =
      level === "phase"
        ? phases.map((phase) => phase.name)
        : phases.flatMap(({ personas }) => personas.map((persona) => persona.name));
    if (known.includes(name)) return;
    throw new InputInvalid(`There is no ${level} "${name}" in this session.${didYouMean(name, known)}`);
  }

  async #say(idOrKey: string, message: Message): Promise<void> {
    const { store, engine } = this.#parts;
    const session = await this.find(idOrKey);
    refuseWord(session, message);
    await store.say(session.id, message);
    if (engine.isDriving(session.id)) return engine.listen();
    await engine.settle(session.id).catch(ignoreHeld);
  }
}

/** Somebody drives the session, and will find the word in its inbox. */
function ignoreHeld(error: unknown): undefined {
  if (LeaseHeld.is(error)) return undefined;
  throw error;
}
