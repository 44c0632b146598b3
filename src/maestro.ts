import { join } from "node:path";
import type { ConfigOverrides } from "./config/config.ts";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { type Clock, systemClock } from "./domain/clock.ts";
import { didYouMean } from "./domain/closest.ts";
import { LeaseHeld, SessionConflict, SessionNotFound, TeamInvalid } from "./domain/errors.ts";
import { isSessionId, type SessionId } from "./domain/ids.ts";
import type { ClaimCause, Message } from "./domain/journal.ts";
import { finalStatuses } from "./domain/journal.ts";
import { Artifacts } from "./state/artifacts.ts";
import { type CheckpointInfo, listCheckpoints } from "./state/list-checkpoints.ts";
import { Projector } from "./state/projector.ts";
import { findLostSessions, readLostSession } from "./state/restore.ts";
import { type Pruned, prune, type RetentionPolicy } from "./state/retention.ts";
import { readState } from "./state/session-journal.ts";
import { SqliteStore } from "./state/sqlite/sqlite-store.ts";
import { resolveStateDirectory } from "./state/state-directory.ts";
import type { SessionQuery, SessionRecord, Store } from "./state/store.ts";
import type { Team } from "./team/define.ts";
import type { Outcome } from "./team/driver.ts";
import { type Brief, TeamEngine } from "./team/engine.ts";
import { describeRow, type SessionEvent } from "./team/event.ts";
import { describeSession, type SessionResult, type SessionView, toResult } from "./team/session-view.ts";

const recoverEveryMs = 1_000;
const shutdownGraceMs = 8_000;

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
  const engine = new TeamEngine({
    store,
    artifacts,
    projector,
    stateDirectory: path,
    clock,
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
  #recovery: NodeJS.Timeout | undefined;
  readonly #beyondRecovery = new Set<SessionId>();
  /** Looked for once: the database does not lose sessions while it is open. */
  #lost: Promise<readonly SessionId[]> | undefined;

  constructor(parts: MaestroParts) {
    this.#parts = parts;
    this.stateDirectory = parts.stateDirectory;
    for (const team of parts.teams) this.#teams.set(team.name, team);
    void this.#reportLost();
  }

  /** Creates a session and drives it. With the key of an unfinished session, goes on with that one. */
  async start(team: Team, brief: Brief): Promise<Session> {
    const { id, status } = await this.create(team, brief);
    return this.#handle(id, status === "queued" ? "start" : "resume", team);
  }

  /** Only creates. */
  async create(team: Team, brief: Brief): Promise<SessionRecord> {
    const { engine, store, model } = this.#parts;
    this.#teams.set(team.name, team);
    if (brief.key !== undefined && (await store.findSession(brief.key)) === undefined)
      await this.#restoreByKey(brief.key);
    return engine.create(team, { ...brief, ...(model !== undefined && { model }) });
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
    const found = (await store.findSession(idOrKey)) ?? (await this.#restore(idOrKey));
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

  async show(idOrKey: string): Promise<SessionView> {
    const { id } = await this.find(idOrKey);
    return describeSession(await readState(this.#parts.store, id));
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

  /** Sessions that have a folder but that the database does not know. */
  lostSessions(): Promise<readonly SessionId[]> {
    this.#lost ??= findLostSessions(this.stateDirectory, this.#parts.store);
    return this.#lost;
  }

  /** Takes up what a crash left, of the teams known here; looks again every second. */
  async recover(): Promise<void> {
    const { store, engine, onNotice } = this.#parts;
    for (const id of await store.findAbandoned()) {
      const session = await store.findSession(id);
      const team = this.#teams.get(session?.team ?? "");
      if (team === undefined || engine.isDriving(id) || this.#beyondRecovery.has(id)) continue;
      const recovered =
        session?.status === "running" ? engine.drive(id, team, "recovery") : engine.settle(id);
      recovered.catch((error: unknown) => {
        if (LeaseHeld.is(error)) return;
        // Trying again every second would not mend it, only fill its journal with claims.
        this.#beyondRecovery.add(id);
        onNotice(`Session ${id} could not be recovered: ${String(error)} Resume it once that is mended.`);
      });
    }
    this.#recovery ??= setInterval(() => {
      this.recover().catch((error: unknown) => onNotice(String(error)));
    }, recoverEveryMs).unref();
  }

  /** Lets go of everything cleanly; sessions under way are taken up again by whoever opens next. */
  async close(): Promise<void> {
    const { engine, projector, store } = this.#parts;
    clearInterval(this.#recovery);
    await engine.stop({ graceMs: shutdownGraceMs });
    await projector.close();
    await this.#lost?.catch(() => undefined);
    await store.close();
  }

  #handle(id: SessionId, cause: ClaimCause, team: Team): Session {
    const { store, engine } = this.#parts;
    const ended = this.#endOf(id).then((end) => end ?? engine.drive(id, team, cause));
    // Whoever does not ask for the result must not crash the process with it.
    ended.catch(() => undefined);
    const result = async (): Promise<SessionResult> => {
      const outcome = await ended;
      const { results } = outcome;
      return results === undefined
        ? toResult(await readState(store, id), outcome)
        : { id, ...outcome, results };
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
    await store.say(id, message);
    if (engine.isDriving(id)) return engine.listen();
    await engine.settle(id).catch(ignoreHeld);
  }

  async #restore(idOrKey: string): Promise<SessionRecord | undefined> {
    return isSessionId(idOrKey) && (await this.lostSessions()).includes(idOrKey)
      ? this.#bringBack(idOrKey)
      : this.#restoreByKey(idOrKey);
  }

  async #restoreByKey(key: string): Promise<SessionRecord | undefined> {
    for (const id of await this.lostSessions()) {
      const lost = await readLostSession(this.stateDirectory, id).catch(() => undefined);
      if (lost?.session.key === key) return this.#bringBack(id);
    }
    return undefined;
  }

  async #bringBack(id: SessionId): Promise<SessionRecord> {
    const lost = await readLostSession(this.stateDirectory, id);
    const session = await this.#parts.store.restoreSession(lost);
    this.#lost = undefined;
    const phases = lost.restored.checkpoints.length - 1;
    this.#parts.onNotice(
      `Session ${id} was not in the database; brought back from its checkpoints with ${phases} finished ${phases === 1 ? "phase" : "phases"}.`,
    );
    return session;
  }

  async #reportLost(): Promise<void> {
    const lost = await this.lostSessions().catch(() => []);
    if (lost.length === 0) return;
    const some = lost.slice(0, 3).join(", ") + (lost.length > 3 ? ", ..." : "");
    this.#parts.onNotice(
      `${lost.length} sessions have files but are not in the database (${some}). Resume one to bring it back from its checkpoints.`,
    );
  }
}

/** Somebody drives the session, and will find the word in its inbox. */
function ignoreHeld(error: unknown): void {
  if (!LeaseHeld.is(error)) throw error;
}
