import { join } from "node:path";
import type { ConfigOverrides } from "./config/config.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { breakerPolicy } from "./domain/breaker.ts";
import { type Clock, systemClock } from "./domain/clock.ts";
import { didYouMean } from "./domain/closest.ts";
import { InputInvalid, LeaseHeld, SessionConflict, SessionNotFound, TeamInvalid } from "./domain/errors.ts";
import { newId, type SessionId } from "./domain/ids.ts";
import type { ClaimCause, Message } from "./domain/journal.ts";
import { finalStatuses } from "./domain/journal.ts";
import { CircuitBreaker } from "./execution/circuit-breaker.ts";
import { Artifacts } from "./state/artifacts.ts";
import { type CheckpointInfo, listCheckpoints } from "./state/list-checkpoints.ts";
import { LostSessions } from "./state/lost-sessions.ts";
import { Projector } from "./state/projector.ts";
import { type Pruned, prune, type RetentionPolicy } from "./state/retention.ts";
import { readState } from "./state/session-journal.ts";
import { SqliteStore } from "./state/sqlite/sqlite-store.ts";
import { resolveStateDirectory } from "./state/state-directory.ts";
import type { SessionQuery, SessionRecord, Store } from "./state/store.ts";
import type { Team } from "./team/define.ts";
import type { Outcome } from "./team/driver.ts";
import { type Brief, TeamEngine } from "./team/engine.ts";
import { describeRow, type SessionEvent } from "./team/event.ts";
import { Recovery } from "./team/recovery.ts";
import {
  describeSession,
  describeTicket,
  resultsOf,
  type SessionResult,
  type SessionView,
  type TicketView,
} from "./team/session-view.ts";
import { chooseSink, outcomeOfTicket } from "./tickets/choose-sink.ts";
import { TicketOutbox } from "./tickets/outbox.ts";

const shutdownGraceMs = 8_000;
const deliveryPatienceMs = 10_000;

export interface OpenOptions extends ConfigOverrides {
  /** Teams whose personas are code, so that their sessions can be resumed by id. */
  readonly teams?: readonly Team[];
  /** Also take up, now and from time to time, what a crash left. */
  readonly recover?: boolean;
  /** A configuration that was loaded already. */
  readonly loaded?: LoadedConfig;
  readonly clock?: Clock;
  /** Things a person should know that stop nothing: repaired files, a fallback directory, lost sessions. */
  readonly onNotice?: (notice: string) => void;
  readonly onEvent?: (event: SessionEvent) => void;
}

export interface Session {
  readonly id: SessionId;
  /** How the drive ended. Parked, paused and canceled are answers, not errors. */
  result(): Promise<SessionResult>;
}

/** Opens a state directory: the one place that wires concrete parts together. */
export async function open(options: OpenOptions = {}): Promise<Maestro> {
  const {
    teams = [],
    recover = false,
    loaded,
    clock = systemClock,
    onNotice = () => {},
    onEvent,
    ...overrides
  } = options;
  const { config, warnings } = loaded ?? (await loadConfig({ overrides }));
  const { path, notice } = await resolveStateDirectory({ explicit: config.stateDir, env: process.env });
  for (const text of [...warnings, ...(notice === undefined ? [] : [notice])]) onNotice(text);
  const store = new SqliteStore({ path: join(path, "maestro.db"), clock, leaseMs: config.leaseMs });
  const artifacts = new Artifacts(path);
  const projector = new Projector((problem) => onNotice(String(problem)));
  const breaker = new CircuitBreaker({
    breakers: store.breakers,
    policy: { ...breakerPolicy, threshold: config.breaker.threshold, cooldownMs: config.breaker.cooldownMs },
    onHopeless: async (dependency, record) => {
      const { ticketForDependency } = await import("./team/help.ts");
      await store.tickets.raise(ticketForDependency(dependency, record, clock.now()));
    },
  });
  const outbox = new TicketOutbox({
    queue: store.tickets,
    sink: await chooseSink(
      {
        jira: {
          baseUrl: config.jira.baseUrl,
          email: config.jira.email,
          apiToken: config.jira.apiToken,
          projectKey: config.jira.projectKey,
        },
        github: { repository: config.github.repository, token: config.github.token },
        webhook: {
          url: config.webhook.url,
          secret: config.webhook.secret,
          allowInternal: config.webhook.allowInternal,
        },
      },
      path,
      onNotice,
    ),
    guard: (dependency, call) => breaker.guard(dependency, call, outcomeOfTicket),
    clock,
    owner: newId(),
    report: ({ ticket, sink, delivery, error }) => {
      if (delivery.kind === "delivered")
        onNotice(`Ticket ${delivery.reference.key} (${sink}): ${ticket.summary}`);
      else onNotice(`Ticket ${ticket.id} could not be delivered to ${sink} yet: ${String(error)}`);
    },
  });
  const engine = new TeamEngine({
    store,
    artifacts,
    projector,
    stateDirectory: path,
    clock,
    breaker,
    timeoutMs: config.attempts.timeoutMs,
    policies: {
      attempts: {
        maxAttempts: config.attempts.max,
        baseDelayMs: config.attempts.baseDelayMs,
        maxDelayMs: config.attempts.maxDelayMs,
      },
      rounds: {
        maxAttempts: config.rounds.max,
        baseDelayMs: config.rounds.baseDelayMs,
        maxDelayMs: config.rounds.maxDelayMs,
      },
    },
    report: onNotice,
    onRows: (state, rows) => {
      // Describing a row means parsing it; not worth it when nobody listens.
      if (onEvent !== undefined) for (const row of rows) onEvent(describeRow(state, row));
    },
    onLog: (sessionId, persona, message) => onEvent?.({ kind: "log", sessionId, persona, message }),
  });
  const maestro = new Maestro({
    store,
    artifacts,
    projector,
    engine,
    outbox,
    stateDirectory: path,
    clock,
    model: config.model,
    teams,
    onNotice,
  });
  if (recover) await maestro.recover();
  return maestro;
}

interface MaestroParts {
  readonly store: Store;
  readonly artifacts: Artifacts;
  readonly projector: Projector;
  readonly engine: TeamEngine;
  readonly outbox: TicketOutbox;
  readonly stateDirectory: string;
  readonly clock: Clock;
  readonly model: string | undefined;
  readonly teams: readonly Team[];
  readonly onNotice: (notice: string) => void;
}

/** Everything a front door may ask for. */
export class Maestro {
  readonly stateDirectory: string;
  readonly #parts: MaestroParts;
  readonly #teams = new Map<string, Team>();
  readonly #recovery: Recovery;
  #closing: Promise<void> | undefined;
  readonly #lost: LostSessions;

  constructor(parts: MaestroParts) {
    this.#parts = parts;
    this.stateDirectory = parts.stateDirectory;
    for (const team of parts.teams) this.#teams.set(team.name, team);
    this.#lost = new LostSessions(parts.stateDirectory, parts.store, parts.onNotice);
    void this.#lost.announce();
    this.#recovery = new Recovery({
      ...parts,
      teamOf: (name) => this.#teams.get(name),
      alsoDue: () => this.deliverTickets(),
      report: parts.onNotice,
    });
  }

  /** Creates a session and drives it. With the key of an unfinished session, goes on with that one. */
  async start(team: Team, brief: Brief): Promise<Session> {
    const { id, status } = await this.#create(team, brief, { drivenSoon: true });
    return this.#handle(id, status === "queued" ? "start" : "resume", team);
  }

  /** Only creates. */
  create(team: Team, brief: Brief): Promise<SessionRecord> {
    return this.#create(team, brief, { drivenSoon: false });
  }

  async #create(team: Team, brief: Brief, options: { drivenSoon: boolean }): Promise<SessionRecord> {
    const { engine, store, model } = this.#parts;
    this.#teams.set(team.name, team);
    if (brief.key !== undefined && (await store.findSession(brief.key)) === undefined)
      await this.#lost.bringBackByKey(brief.key);
    return engine.create(team, { ...brief, ...(model !== undefined && { model }) }, options);
  }

  /** Goes on to the end, on a person's word. */
  async resume(idOrKey: string, options: { readonly team?: Team } = {}): Promise<Session> {
    const { id, team } = await this.find(idOrKey);
    return this.#handle(id, "resume", options.team ?? this.#team(team));
  }

  /** All that is left, to the end; resolves when it is done. */
  async executeBatch(idOrKey: string): Promise<SessionResult> {
    return (await this.resume(idOrKey)).result();
  }

  /** The session with this id or key, brought back from its checkpoints if the database does not know it. */
  async find(idOrKey: string): Promise<SessionRecord> {
    const { store } = this.#parts;
    const found = (await store.findSession(idOrKey)) ?? (await this.#lost.bringBack(idOrKey));
    if (found !== undefined) return found;
    const known = (await store.listSessions({ limit: 1_000 })).flatMap(({ id, key }) =>
      key === undefined ? [id] : [id, key],
    );
    const named = idOrKey.length > 100 ? `${idOrKey.slice(0, 100)}…` : idOrKey;
    throw new SessionNotFound(
      `There is no session with the id or key "${named}" in ${this.stateDirectory}.${didYouMean(named, known)}`,
      {
        details: { session: idOrKey, stateDirectory: this.stateDirectory },
        advice: "List them with: maestro sessions",
      },
    );
  }

  async sessions(query?: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#parts.store.listSessions(query);
  }

  /** Sessions that say they run and that nobody alive drives: to be resumed, or recovered. */
  async abandoned(): Promise<ReadonlySet<SessionId>> {
    return new Set(await this.#parts.store.findAbandoned());
  }

  async show(idOrKey: string): Promise<SessionView> {
    const { id } = await this.find(idOrKey);
    const state = await readState(this.#parts.store, id);
    return describeSession(state, await this.#ticketOf(state.ticket));
  }

  async checkpoints(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    return listCheckpoints(this.stateDirectory, await readState(this.#parts.store, id));
  }

  /** Takes effect at the session's next step. */
  async pause(idOrKey: string): Promise<void> {
    await this.#say(idOrKey, { say: "pause" });
  }

  /** Final. */
  async cancel(idOrKey: string): Promise<void> {
    await this.#say(idOrKey, { say: "cancel" });
  }

  async prune(policy: RetentionPolicy): Promise<Pruned> {
    const { store, artifacts, clock } = this.#parts;
    return prune(policy, { store, artifacts, stateDirectory: this.stateDirectory, now: clock.now() });
  }

  breakers() {
    return this.#parts.store.breakers.list();
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

  async tickets(): Promise<readonly TicketView[]> {
    return (await this.#parts.store.tickets.list()).map(describeTicket);
  }

  /** Brings requests for help that are due to their tracker; gives how many got there. */
  deliverTickets(): Promise<number> {
    return this.#parts.outbox.deliverDue(AbortSignal.timeout(deliveryPatienceMs));
  }

  /** Sessions that have a folder but that the database does not know. */
  lostSessions(): Promise<readonly SessionId[]> {
    return this.#lost.list();
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
    const { engine, projector, store } = this.#parts;
    // Before anything is awaited: from here on no step begins.
    const stopped = engine.stop({ graceMs: shutdownGraceMs });
    await this.#recovery.stop();
    await stopped;
    await projector.close();
    await this.#lost.list().catch(() => undefined);
    await store.close();
  }

  #handle(id: SessionId, cause: ClaimCause, team: Team): Session {
    const { store, engine } = this.#parts;
    const ended = engine.track(this.#endOf(id).then((end) => end ?? engine.drive(id, team, cause)));
    // Whoever does not ask for the result must not crash the process with it.
    ended.catch(() => undefined);
    const result = async (): Promise<SessionResult> => {
      const outcome = await ended;
      // Who reads the result should find the ticket where it says it is.
      if (outcome.ticket !== undefined) await this.deliverTickets();
      const results = outcome.results ?? resultsOf(await readState(store, id));
      return { id, ...outcome, results, ticket: await this.#ticketOf(outcome.ticket) };
    };
    return { id, result };
  }

  /** A completed session has nothing left to drive. */
  async #endOf(id: SessionId): Promise<Outcome | undefined> {
    const { store, engine } = this.#parts;
    const session = await store.findSession(id);
    if (session?.status !== "completed") return undefined;
    // Its driver may have died after the last row and before the last file.
    if ((await store.findAbandoned()).includes(id)) await engine.settle(id).catch(ignoreHeld);
    return { status: "completed" };
  }

  async #ticketOf(fingerprint: string | undefined): Promise<TicketView | null> {
    const found = fingerprint === undefined ? undefined : await this.#parts.store.tickets.find(fingerprint);
    return found === undefined ? null : describeTicket(found);
  }

  #team(name: string): Team {
    const team = this.#teams.get(name);
    if (team !== undefined) return team;
    throw new TeamInvalid(`The team "${name}" is not registered.${didYouMean(name, this.#teams.keys())}`, {
      advice: "Give its personas' code to open({ teams: [...] }), or its file with --team.",
    });
  }

  async #say(idOrKey: string, message: Message): Promise<void> {
    const { store, engine } = this.#parts;
    const { id, status } = await this.find(idOrKey);
    if (finalStatuses.includes(status)) {
      throw new SessionConflict(`Session ${id} is ${status}; there is nothing to ${message.say}.`, {
        details: { session: id, status },
      });
    }
    if (message.say === "pause" && (status === "parked" || status === "paused")) {
      throw new SessionConflict(`Session ${id} is ${status} already; there is nothing to pause.`, {
        details: { session: id, status },
        advice: `See why with: maestro show ${id}`,
      });
    }
    await store.say(id, message);
    if (engine.isDriving(id)) return engine.listen();
    await engine.settle(id).catch(ignoreHeld);
  }
}

/** Somebody drives the session, and will find the word in its inbox. */
function ignoreHeld(error: unknown): void {
  if (!LeaseHeld.is(error)) throw error;
}
