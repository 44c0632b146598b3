import type { BudgetStatus } from "../cost/budget-status.ts";
import { type UsageReport, usageReport } from "../cost/reports.ts";
import { advise } from "../domain/advice.ts";
import { type Amount, noAmount } from "../domain/budget.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionNotFound, type StateRemoved } from "../domain/errors.ts";
import { leastIdPrefix, type SessionId } from "../domain/ids.ts";
import { utcDay } from "../domain/ledger.ts";
import { emptyTree, emptyTreeHash, type Tree } from "../domain/tree.ts";
import type { UsageTotals } from "../domain/usage-totals.ts";
import type { RecordedRow } from "../journal/journal.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import type { SessionState } from "../journal/session-state.ts";
import { describeSession, describeTicket, type SessionView, type TicketView } from "../journal/view.ts";
import type { ApplyOptions, BranchOptions } from "../run/acts/deliver.ts";
import { finalTree, listFiles } from "../run/final-files.ts";
import { allBudgets } from "../run/spending.ts";
import { type CheckpointInfo, listCheckpointFiles } from "../store/list-checkpoints.ts";

import type { Logins } from "../store/logins.ts";
import { newerFiles } from "../store/newer-work.ts";

import type {
  BudgetAlert,
  JournalChange,
  LedgerCall,
  ListingCounts,
  ListingQuery,
  RaisedAlert,
  Reports,
  UsagePoint,
} from "../store/reports.ts";
import { SessionFiles } from "../store/session-files.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionQuery, SessionRecord } from "../store/store.ts";
import type { TicketRecord } from "../store/ticket-store.ts";
import type { VerifiedArtifact, VerifiedSession } from "../store/verify.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { Demand } from "../team/demands.ts";
import type { OutResult } from "../workspace/out-plan.ts";
import type { Applied } from "../workspace/repository/apply-changes.ts";
import type { DeliveredBranch } from "../workspace/repository/deliver-branch.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import { checkUsageOptions } from "./check-usage.ts";
import type { Carried } from "./export-import.ts";
import { reportOf, type SessionListing, usageOfEach, withUsage } from "./listings.ts";
import type { UsageOptions } from "./options.ts";
import type { QueryServices } from "./services.ts";
import type { DiffOptions } from "./session-diff.ts";
import type { Outlook, SessionForecast } from "./session-forecast.ts";
import type { WatchOptions } from "./watch.ts";
import type { FilesAt } from "./write-files.ts";

export interface UsageInside {
  readonly places: readonly {
    readonly phase: string;
    readonly persona: string;
    readonly usage: UsageTotals;
  }[];
  readonly attempts: ReadonlyMap<number, Amount>;
}

/** All reads of a state directory. */
export class SessionQueries {
  readonly stateDirectory: string;
  readonly #services: QueryServices;

  constructor(services: QueryServices) {
    this.#services = services;
    this.stateDirectory = services.stateDirectory;
  }

  /** The session with this id or key, restored from its checkpoints if the database does not have it. */
  async find(idOrKey: string): Promise<SessionRecord> {
    const { store, lost } = this.#services;
    const found =
      (await store.findSession(idOrKey)) ??
      (await lost.bringBack(idOrKey)) ??
      (await this.#findByPrefix(idOrKey));
    if (found !== undefined) return found;
    const known = (await store.reports.listSessions({ limit: 1_000 })).flatMap(({ id, key }) =>
      key === undefined ? [id] : [id, key],
    );
    const named = idOrKey.length > 100 ? `${idOrKey.slice(0, 100)}…` : idOrKey;
    throw new SessionNotFound(
      `There is no session with the id or key "${named}" in ${this.stateDirectory}.${didYouMean(named, known)}`,
      {
        details: { session: idOrKey, stateDirectory: this.stateDirectory },
        advice: advise("List the sessions", "sessions"),
      },
    );
  }

  async isKnownKey(key: string): Promise<boolean> {
    return (await this.#services.store.findSession(key))?.key === key;
  }

  sessions(query?: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#services.store.reports.listSessions(query);
  }

  /** Running sessions whose driver is dead. They wait for a resume or a recovery. */
  async abandoned(): Promise<ReadonlySet<SessionId>> {
    return new Set(await this.#services.store.reports.abandoned());
  }

  async show(idOrKey: string): Promise<SessionView> {
    const { id } = await this.find(idOrKey);
    return this.describe(await readState(this.#services.store, id));
  }

  /** What the team of a session would run, read and send. */
  async demands(idOrKey: string): Promise<readonly Demand[]> {
    const { id } = await this.find(idOrKey);
    const { demandsOfSession } = await import("../run/acts/trust.ts");
    return demandsOfSession(id, this.#services.store);
  }

  /** As `show`, for a state that the caller keeps up to date. */
  async describe(state: SessionState, { withFiles = true } = {}): Promise<SessionView> {
    const { store, artifacts, stateDirectory } = this.#services;
    const tickets = await this.ticketsOf(state.tickets);
    const [usage, budgets, files, session, newerCheckpoints] = await Promise.all([
      usageReport(store, { by: "persona", session: state.id }),
      this.budgetsOf(state),
      withFiles ? listFiles(state, artifacts) : [],
      store.findSession(state.id),
      newerFiles(state, new SessionFiles(stateDirectory, state.id)),
    ]);
    const { blocked } = session ?? {};
    return describeSession(state, { tickets, usage, budgets, artifacts: files, newerCheckpoints, blocked });
  }

  /** A page of sessions with their cards and what each has used. */
  async list(query: ListingQuery): Promise<readonly SessionListing[]> {
    return withUsage(await this.#services.store.reports.list(query), this.#services.store);
  }

  /** As `list`, for these sessions, in no order. Sessions that no longer exist are left out. */
  async listed(ids: readonly SessionId[]): Promise<readonly SessionListing[]> {
    return withUsage(await this.#services.store.reports.listed(ids), this.#services.store);
  }

  /** The usage of each of these sessions. */
  usageOfEach(ids: readonly SessionId[]): Promise<(id: SessionId) => UsageTotals> {
    return usageOfEach(ids, this.#services.store);
  }

  count(filter: Parameters<Reports["count"]>[0] = {}): Promise<ListingCounts> {
    return this.#services.store.reports.count(filter, this.#services.clock.now());
  }

  /** Called once when the database was deleted, moved or replaced under this process. Drives end with this error. */
  onStateRemoved(listener: (error: StateRemoved) => void): void {
    this.#services.store.maintenance.onRemoved(listener);
  }

  /** Defects of the database itself. */
  findDamage(): Promise<readonly string[]> {
    return this.#services.store.maintenance.findDamage();
  }

  /** Sessions that wait for their turn, in order. */
  queued(): Promise<readonly SessionId[]> {
    return this.#services.store.reports.queued();
  }

  /** Rows of all sessions behind a position of the journal, without their content. */
  changes(after: number, limit: number): Promise<readonly JournalChange[]> {
    return this.#services.store.reports.changes(after, limit);
  }

  /** Where the journal of all sessions ends. */
  position(): Promise<number> {
    return this.#services.store.reports.position();
  }

  /** The journal of a session as it was recorded, in pages. */
  rows(id: SessionId, afterSeq = 0): AsyncIterable<readonly RecordedRow[]> {
    return this.#services.store.readJournal(id, afterSeq);
  }

  /** Verifies the whole journal as well: other reads verify only what they read. */
  async checkpoints(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    return (await this.verify(id)).checkpoints;
  }

  /** Verifies all rows of a session and its checkpoints. `verifyArtifacts` verifies the rest. */
  async verify(id: SessionId): Promise<VerifiedSession> {
    const { verifySession } = await import("../store/verify.ts");
    return verifySession(id, this.#services);
  }

  /** Reads each artifact that a session points to, or that any session points to. */
  async *verifyArtifacts(by?: SessionId): AsyncGenerator<VerifiedArtifact> {
    const { verifyArtifacts } = await import("../store/verify.ts");
    yield* verifyArtifacts(this.#services, by);
  }

  /** The files on disk, each verified by its own seal. For sessions with a damaged journal. */
  async checkpointFiles(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    return listCheckpointFiles(this.stateDirectory, id);
  }

  /** The events of the journal in order; with `follow`, new ones as they are recorded. */
  async *events(idOrKey: string, options?: WatchOptions): AsyncGenerator<SessionEvent> {
    const { id } = await this.find(idOrKey);
    const { watchSession } = await import("./watch.ts");
    yield* watchSession(this.#services.store, id, options);
  }

  /** Tokens and money by persona, model or another group, with the savings. */
  async usage(options: UsageOptions = { by: "persona" }): Promise<UsageReport> {
    checkUsageOptions(options);
    const { session, ...query } = options;
    const id = session === undefined ? undefined : (await this.find(session)).id;
    return usageReport(this.#services.store, { ...query, session: id });
  }

  /** Usage per day, oldest first. */
  async usageSeries(options: UsageOptions): Promise<readonly UsagePoint[]> {
    checkUsageOptions(options);
    const { session, ...query } = options;
    const id = session === undefined ? undefined : (await this.find(session)).id;
    return this.#services.store.reports.series({ ...query, session: id });
  }

  /** The usage of each persona in each phase, and the cost of each attempt by the seq of its first row. */
  async usageInside(id: SessionId): Promise<UsageInside> {
    const { reports } = this.#services.store;
    const [places, attempts] = await Promise.all([reports.usageByPlace(id), reports.costByAttempt(id)]);
    const named = places.map((sums, index) => ({ ...sums, name: String(index) }));
    const report = await reportOf(named);
    const usage = places.map(({ phase, persona }, index) => ({
      phase,
      persona,
      usage: report.find(({ name }) => name === String(index)) as UsageTotals,
    }));
    return { places: usage, attempts };
  }

  /** The calls of a session that may have cost something, in the order they were made. */
  calls(id: SessionId, page?: Parameters<Reports["calls"]>[1]): Promise<readonly LedgerCall[]> {
    return this.#services.store.reports.calls(id, page);
  }

  /** Warnings about budgets, of all sessions, newest first. */
  alerts(limit: number): Promise<readonly RaisedAlert[]> {
    return this.#services.store.reports.recentAlerts(limit);
  }

  /** The cost of the remaining work, from past runs of the team. Null when the session is over. */
  async forecast(idOrKey: string): Promise<SessionForecast | null> {
    const { id } = await this.find(idOrKey);
    return (await this.outlook(await readState(this.#services.store, id)))?.forecast ?? null;
  }

  /** The forecast, and the expected total of each budget. */
  async outlook(state: SessionState): Promise<Outlook | null> {
    const { outlookOf } = await import("./session-forecast.ts");
    return outlookOf(state, this.#services.store);
  }

  /** The forecast at the time of its start, from past runs of the team. Null without past runs. */
  async forecastAtStart(idOrKey: string): Promise<SessionForecast | null> {
    const { forecastAtStart } = await import("./session-forecast.ts");
    return forecastAtStart(await this.find(idOrKey), this.#services.store);
  }

  /** The amount reserved by running calls, with or without a budget. */
  async reserved(id: SessionId): Promise<Amount> {
    const totals = await this.#services.store.reports.totals(id);
    return totals.find(({ level }) => level === "session")?.reserved ?? noAmount;
  }

  /** Warnings about the budgets of one session, oldest first. */
  alertsOf(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]> {
    return this.#services.store.reports.alerts(id);
  }

  /** Every budget of the session and its use. */
  async budgets(idOrKey: string): Promise<readonly BudgetStatus[]> {
    const { id } = await this.find(idOrKey);
    return this.budgetsOf(await readState(this.#services.store, id));
  }

  /** The content of an artifact of this session. */
  async artifact(idOrKey: string, sha256: string): Promise<Buffer> {
    const { id } = await this.find(idOrKey);
    const { store, artifacts } = this.#services;
    if ((await store.reports.findReferenced([sha256], id)).size > 0) return artifacts.get(sha256);
    // Where a graph ends in several branches, the merged files are made for the query and not stored.
    const { tree, blobs } = await finalTree(await readState(store, id), artifacts);
    if (blobs !== artifacts && [...tree.values()].some((file) => file.sha256 === sha256))
      return blobs.get(sha256);
    throw new InputInvalid(`Session ${id} has no artifact ${sha256.slice(0, 64)}.`, {
      details: { session: id },
      advice: advise("List its artifacts", "show", id, "--json"),
    });
  }

  /** The path and the hash of every file in a tree of the session. */
  async files(idOrKey: string, tree: string): Promise<Tree> {
    if (tree === emptyTreeHash) return emptyTree;
    await this.artifact(idOrKey, tree);
    return loadTree(this.#services.artifacts, tree);
  }

  /** What the session changed, or a part of it, as `git apply` takes it. */
  async diff(idOrKey: string, options: DiffOptions = {}): Promise<Buffer> {
    const { id } = await this.find(idOrKey);
    const { sessionDiff } = await import("./session-diff.ts");
    return sessionDiff(await readState(this.#services.store, id), this.#services.artifacts, options);
  }

  /** Makes a git branch with one commit for each completed phase, in the session's repository or in another. */
  async branch(idOrKey: string, options: BranchOptions): Promise<DeliveredBranch> {
    const { id } = await this.find(idOrKey);
    const { makeBranch } = await import("../run/acts/deliver.ts");
    return makeBranch(await readState(this.#services.store, id), options, this.#services.artifacts);
  }

  /** Brings the session's changes into a folder: its repository unless another is named. */
  async apply(idOrKey: string, options: ApplyOptions = {}): Promise<Applied> {
    const { id } = await this.find(idOrKey);
    const { applySession } = await import("../run/acts/deliver.ts");
    return applySession(await readState(this.#services.store, id), options, this.#services.artifacts);
  }

  /** Writes the current files of the session, or those of a checkpoint. Files that it did not write are left alone. */
  async writeFiles(idOrKey: string, directory: string, at: FilesAt = {}): Promise<OutResult> {
    const { id } = await this.find(idOrKey);
    const { writeFiles } = await import("./write-files.ts");
    return writeFiles(await readState(this.#services.store, id), this.#services, directory, at);
  }

  /** Writes one file with all that another machine needs to resume the session. */
  async exportCheckpoints(idOrKey: string, file: string): Promise<Carried> {
    const { id } = await this.find(idOrKey);
    const { exportCheckpoints } = await import("./export-import.ts");
    return exportCheckpoints(id, file, this.#services);
  }

  /** Browsers that are signed in to the dashboard of `maestro serve`. */
  get logins(): Logins {
    return this.#services.store.logins;
  }

  breakers() {
    return this.#services.store.breakers.list();
  }

  /** Tickets with all details of the outbox. */
  ticketRecords(): Promise<readonly TicketRecord[]> {
    return this.#services.store.tickets.list();
  }

  /** Ids of stored tickets that cannot be read. */
  damagedTickets(): Promise<readonly string[]> {
    return this.#services.store.tickets.damaged();
  }

  ticketRecord(fingerprint: string): Promise<TicketRecord | undefined> {
    return this.#services.store.tickets.find(fingerprint);
  }

  async tickets(): Promise<readonly TicketView[]> {
    return (await this.#services.store.tickets.list()).map(describeTicket);
  }

  /** Sessions with a folder that the database does not have. */
  lostSessions(): Promise<readonly SessionId[]> {
    return this.#services.lost.list();
  }

  async budgetsOf(state: SessionState): Promise<readonly BudgetStatus[]> {
    const { tracker, budgets, clock } = this.#services;
    const definition = recordedDefinition(state.created.definition);
    return tracker.statuses(state.id, allBudgets(definition, state, budgets, utcDay(clock.now())));
  }

  protected async ticketsOf(fingerprints: readonly string[]): Promise<readonly TicketView[]> {
    const { tickets } = this.#services.store;
    const found = await Promise.all(fingerprints.map((fingerprint) => tickets.find(fingerprint)));
    return found.flatMap((record) => (record === undefined ? [] : [describeTicket(record)]));
  }

  /** Ids are long, so an unambiguous prefix is enough. */
  async #findByPrefix(prefix: string): Promise<SessionRecord | undefined> {
    if (prefix.length < leastIdPrefix) return undefined;
    const found = await this.#services.store.reports.findByPrefix(prefix);
    if (found.length <= 1) return found[0];
    throw new InputInvalid(`More than one session begins with "${prefix}".`, {
      details: { sessions: found.map(({ id }) => id) },
      advice: `Use a longer prefix: ${found.map(({ id }) => id).join(", ")}`,
    });
  }
}
