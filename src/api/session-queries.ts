import type { BudgetStatus } from "../cost/budget-status.ts";
import { type UsageReport, usageReport } from "../cost/reports.ts";
import { type Amount, noAmount } from "../domain/budget.ts";
import type { Position } from "../domain/cursor.ts";
import type { StateRemoved } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { utcDay } from "../domain/ledger.ts";
import type { UsageTotals } from "../domain/usage-totals.ts";
import type { RecordedRow } from "../journal/journal.ts";
import type { SessionEvent } from "../journal/public-fact.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { SessionStatus } from "../journal/standing.ts";
import { describeSession, describeTicket, type SessionView, type TicketView } from "../journal/view.ts";
import { listFiles } from "../run/final-files.ts";
import { allBudgets } from "../run/spending.ts";
import type { Access } from "../store/access.ts";
import { type CheckpointInfo, listCheckpointFiles } from "../store/list-checkpoints.ts";
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
  UsageQuery,
} from "../store/reports.ts";
import { SessionFiles } from "../store/session-files.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { TicketRecord } from "../store/ticket-store.ts";
import type { VerifiedArtifact, VerifiedSession } from "../store/verify.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { Demand } from "../team/demands.ts";
import { checkUsageOptions } from "./check-usage.ts";
import { FileQueries } from "./file-queries.ts";
import { reportOf, type SessionListing, usageOfEach, withUsage } from "./listings.ts";
import type { UsageOptions } from "./options.ts";
import type { QueryServices } from "./services.ts";
import type { Outlook, SessionForecast } from "./session-forecast.ts";
import type { TranscriptOptions, TranscriptPage } from "./transcript.ts";
import type { WatchOptions } from "./watch.ts";

export interface UsageInside {
  readonly places: readonly {
    readonly phase: string;
    readonly persona: string;
    readonly usage: UsageTotals;
  }[];
  readonly attempts: ReadonlyMap<number, Amount>;
}

export interface SessionQuery {
  readonly statuses?: readonly SessionStatus[];
  readonly limit?: number;
  /** Only sessions created before this one, which is the last of the previous page. */
  readonly before?: SessionId;
}

/** All reads of a state directory. */
export class SessionQueries extends FileQueries {
  readonly #services: QueryServices;

  constructor(services: QueryServices) {
    super(services);
    this.#services = services;
  }

  /** Newest first. */
  async sessions({ statuses, limit = 100, before }: SessionQuery = {}): Promise<readonly SessionRecord[]> {
    const { reports } = this.#services.store;
    const [last] = before === undefined ? [] : await reports.listed([before]);
    if (before !== undefined && last === undefined) return [];
    const listed = await reports.list({ statuses, order: "created", limit, after: last?.cursor });
    return listed.map((session) => {
      const { cursor: _, statusAt: __, epoch: ___, card: ____, ...record } = session;
      return record;
    });
  }

  /** Running sessions whose driver is dead. They wait for a resume or recovery. */
  async abandoned(): Promise<ReadonlySet<SessionId>> {
    return new Set(await this.#services.store.reports.abandoned());
  }

  async show(idOrKey: string): Promise<SessionView> {
    const { id } = await this.find(idOrKey);
    return this.describe(await readState(this.#services.store, id));
  }

  /** The commands, files and addresses that the session's team would use. */
  async demands(idOrKey: string): Promise<readonly Demand[]> {
    const { id } = await this.find(idOrKey);
    const { demandsOfSession } = await import("../run/acts/trust.ts");
    return demandsOfSession(id, this.#services.store);
  }

  /** Like `show`, for a state that the caller keeps current. */
  async describe(state: SessionState, { withFiles = true } = {}): Promise<SessionView> {
    const { store, artifacts, stateDirectory } = this.#services;
    const tickets = await this.ticketsOf(state.tickets);
    const { pullRequest: requested } = state.delivery ?? {};
    const [pullRequest] = requested === undefined ? [] : await this.ticketsOf([requested]);
    const [usage, budgets, files, session, newerCheckpoints] = await Promise.all([
      usageReport(store, { by: "persona", sessions: [state.id] }),
      this.budgetsOf(state),
      withFiles ? listFiles(state, artifacts) : [],
      store.findSession(state.id),
      newerFiles(state, new SessionFiles(stateDirectory, state.id)),
    ]);
    const { blocked } = session ?? {};
    return describeSession(state, {
      tickets,
      pullRequest,
      usage,
      budgets,
      artifacts: files,
      newerCheckpoints,
      blocked,
    });
  }

  /** A page of sessions with their cards and usage. */
  async list(query: ListingQuery): Promise<readonly SessionListing[]> {
    return withUsage(await this.#services.store.reports.list(query), this.#services.store);
  }

  /** Like `list`, for these sessions, in no order. Leaves out deleted sessions. */
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

  /** Damage of the database itself. */
  findDamage(): Promise<readonly string[]> {
    return this.#services.store.maintenance.findDamage();
  }

  /** Sessions that wait for their turn, in that order. */
  queued(): Promise<readonly SessionId[]> {
    return this.#services.store.reports.queued();
  }

  /** Rows of all sessions after a position of the journal, without their content. */
  changes(after: Position, limit: number): Promise<readonly JournalChange[]> {
    return this.#services.store.reports.changes(after, limit);
  }

  /** The end of the journal of all sessions. */
  position(): Promise<Position> {
    return this.#services.store.reports.position();
  }

  /** The journal of a session as it was recorded, in pages. */
  rows(id: SessionId, afterSeq = 0): AsyncIterable<readonly RecordedRow[]> {
    return this.#services.store.readJournal(id, afterSeq);
  }

  /** The transcript: prompts, reasoning, answers, tools, checks, healing and people's signals. */
  async *transcript(idOrKey: string, options: TranscriptOptions = {}): AsyncGenerator<TranscriptPage> {
    const { id } = await this.find(idOrKey);
    const { transcriptOf } = await import("./transcript.ts");
    yield* transcriptOf(await readState(this.#services.store, id), this.#services, options);
  }

  /** Verifies the whole journal as well. Other reads verify only the rows they read. */
  async checkpoints(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    return (await this.verify(id)).checkpoints;
  }

  /** Verifies all rows of a session and its checkpoints. `verifyArtifacts` verifies the rest. */
  async verify(id: SessionId): Promise<VerifiedSession> {
    const { verifySession } = await import("../store/verify.ts");
    return verifySession(id, this.#services);
  }

  /** Reads each artifact that a session references, or that any session references. */
  async *verifyArtifacts(by?: SessionId): AsyncGenerator<VerifiedArtifact> {
    const { verifyArtifacts } = await import("../store/verify.ts");
    yield* verifyArtifacts(this.#services, by);
  }

  /** The files on disk, each verified by its seal alone. For sessions with a damaged journal. */
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
    return usageReport(this.#services.store, await this.#usageQuery(options));
  }

  /** Usage per day, oldest first. */
  async usageSeries(options: UsageOptions): Promise<readonly UsagePoint[]> {
    checkUsageOptions(options);
    return this.#services.store.reports.series(await this.#usageQuery(options));
  }

  async #usageQuery({ session, ...query }: UsageOptions): Promise<UsageQuery> {
    return session === undefined ? query : { ...query, sessions: [(await this.find(session)).id] };
  }

  /** The usage of each persona in each phase, and the cost of each attempt, keyed by the seq of its first row. */
  async usageInside(id: SessionId): Promise<UsageInside> {
    const { places, attempts } = await this.#services.store.reports.usageInside(id);
    const named = places.map((sums, index) => ({ ...sums, name: String(index) }));
    const report = await reportOf(named);
    const usage = places.map(({ phase, persona }, index) => ({
      phase,
      persona,
      usage: report.find(({ name }) => name === String(index)) as UsageTotals,
    }));
    return { places: usage, attempts };
  }

  /** The session's calls that may have cost something, in order. */
  calls(id: SessionId, page?: Parameters<Reports["calls"]>[1]): Promise<readonly LedgerCall[]> {
    return this.#services.store.reports.calls(id, page);
  }

  /** Budget warnings of all sessions, newest first. */
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

  /** The forecast at the start of the session, from past runs of the team. Null without past runs. */
  async forecastAtStart(idOrKey: string): Promise<SessionForecast | null> {
    const { forecastAtStart } = await import("./session-forecast.ts");
    return forecastAtStart(await this.find(idOrKey), this.#services.store);
  }

  /** The amount reserved by running calls, with or without a budget. */
  async reserved(id: SessionId): Promise<Amount> {
    const totals = await this.#services.store.reports.totals(id);
    return totals.find(({ level }) => level === "session")?.reserved ?? noAmount;
  }

  /** Budget warnings of one session, oldest first. */
  alertsOf(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]> {
    return this.#services.store.reports.alerts(id);
  }

  /** Every budget of the session and its use. */
  async budgets(idOrKey: string): Promise<readonly BudgetStatus[]> {
    const { id } = await this.find(idOrKey);
    return this.budgetsOf(await readState(this.#services.store, id));
  }

  /** People who may use `maestro serve`, and what they did. */
  get access(): Access {
    return this.#services.store.access;
  }

  breakers() {
    return this.#services.store.breakers.list();
  }

  /** Requests for help with all details of the outbox. */
  async ticketRecords(): Promise<readonly TicketRecord[]> {
    const all = await this.#services.store.tickets.list();
    return all.filter(({ ticket }) => ticket.pullRequest === undefined);
  }

  /** Ids of stored tickets that cannot be read. */
  damagedTickets(): Promise<readonly string[]> {
    return this.#services.store.tickets.damaged();
  }

  ticketRecord(fingerprint: string): Promise<TicketRecord | undefined> {
    return this.#services.store.tickets.find(fingerprint);
  }

  async tickets(): Promise<readonly TicketView[]> {
    return (await this.ticketRecords()).map(describeTicket);
  }

  /** Sessions that have a folder but no database row. */
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
}
