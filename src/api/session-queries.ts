import type { BudgetStatus } from "../cost/budget-status.ts";
import { type UsageReport, type UsageTotals, usageReport } from "../cost/reports.ts";
import { advise } from "../domain/advice.ts";
import { type Amount, noAmount } from "../domain/budget.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { utcDay } from "../domain/ledger.ts";
import { emptyTree, emptyTreeHash, fromManifest, type Tree } from "../domain/tree.ts";
import type { RecordedRow } from "../journal/journal.ts";
import type { SessionEvent } from "../journal/session-event.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalTree } from "../run/final-tree.ts";
import { listFiles } from "../run/list-files.ts";
import { describeSession, describeTicket, type SessionView, type TicketView } from "../run/session-view.ts";
import { allBudgets } from "../run/spending.ts";
import { type CheckpointInfo, listCheckpointFiles, listCheckpoints } from "../store/list-checkpoints.ts";
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
import { readState } from "../store/session-journal.ts";
import type { SessionQuery, SessionRecord } from "../store/store.ts";
import type { TicketRecord } from "../store/ticket-store.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { OutResult } from "../workspace/out-plan.ts";
import type { HiveParts } from "./api-parts.ts";
import type { Carried } from "./export-import.ts";
import { reportOf, type SessionListing, usageOfEach, withUsage } from "./listings.ts";
import { forecastAtStart, type Outlook, outlookOf, type SessionForecast } from "./session-forecast.ts";
import { type WatchOptions, watchSession } from "./watch.ts";
import { type FilesAt, giveOut } from "./write-files.ts";

export interface UsageOptions extends Omit<UsageQuery, "session"> {
  /** Id or key. */
  readonly session?: string | undefined;
}

export type ReadingParts = Pick<
  HiveParts,
  "store" | "artifacts" | "lost" | "stateDirectory" | "clock" | "tracker" | "budgets"
>;

export interface UsageInside {
  readonly places: readonly {
    readonly phase: string;
    readonly persona: string;
    readonly usage: UsageTotals;
  }[];
  readonly attempts: ReadonlyMap<number, Amount>;
}

/** Everything that only looks. */
export class Reading {
  readonly stateDirectory: string;
  readonly #parts: ReadingParts;

  constructor(parts: ReadingParts) {
    this.#parts = parts;
    this.stateDirectory = parts.stateDirectory;
  }

  /** The session with this id or key, brought back from its checkpoints if the database does not know it. */
  async find(idOrKey: string): Promise<SessionRecord> {
    const { store, lost } = this.#parts;
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
    return (await this.#parts.store.findSession(key))?.key === key;
  }

  sessions(query?: SessionQuery): Promise<readonly SessionRecord[]> {
    return this.#parts.store.reports.listSessions(query);
  }

  /** Sessions that say they run and that nobody alive drives: to be resumed, or recovered. */
  async abandoned(): Promise<ReadonlySet<SessionId>> {
    return new Set(await this.#parts.store.reports.abandoned());
  }

  async show(idOrKey: string): Promise<SessionView> {
    const { id } = await this.find(idOrKey);
    return this.describe(await readState(this.#parts.store, id));
  }

  /** As `show`, of a state that somebody keeps up to date himself. Files are listed unless they are not wanted. */
  async describe(state: SessionState, { withFiles = true } = {}): Promise<SessionView> {
    const { store, artifacts } = this.#parts;
    const tickets = await this.ticketsOf(state.tickets);
    const [usage, budgets, files] = await Promise.all([
      usageReport(store, { by: "persona", session: state.id }),
      this.budgetsOf(state),
      withFiles ? listFiles(state, artifacts) : [],
    ]);
    return describeSession(state, { tickets, usage, budgets, artifacts: files });
  }

  /** A page of sessions with their cards and what each has used. */
  async list(query: ListingQuery): Promise<readonly SessionListing[]> {
    return withUsage(await this.#parts.store.reports.list(query), this.#parts.store);
  }

  /** The same of these sessions, in no order; those that are gone are left out. */
  async listed(ids: readonly SessionId[]): Promise<readonly SessionListing[]> {
    return withUsage(await this.#parts.store.reports.listed(ids), this.#parts.store);
  }

  /** What each of these has used. */
  usageOfEach(ids: readonly SessionId[]): Promise<(id: SessionId) => UsageTotals> {
    return usageOfEach(ids, this.#parts.store);
  }

  count(filter: Parameters<Reports["count"]>[0] = {}): Promise<ListingCounts> {
    return this.#parts.store.reports.count(filter, this.#parts.clock.now());
  }

  /** What is wrong with the database itself. */
  findDamage(): Promise<readonly string[]> {
    return this.#parts.store.maintenance.findDamage();
  }

  /** Sessions that wait for their turn, in order. */
  queued(): Promise<readonly SessionId[]> {
    return this.#parts.store.reports.queued();
  }

  /** Rows of all sessions behind a position of the journal, without their content. */
  changes(after: number, limit: number): Promise<readonly JournalChange[]> {
    return this.#parts.store.reports.changes(after, limit);
  }

  /** Where the journal of all sessions ends. */
  position(): Promise<number> {
    return this.#parts.store.reports.position();
  }

  /** The journal of a session as it was recorded, in pages. */
  rows(id: SessionId, afterSeq = 0): AsyncIterable<readonly RecordedRow[]> {
    return this.#parts.store.readJournal(id, afterSeq);
  }

  /** Verifies the whole journal as well: other reads verify only what they read. */
  async checkpoints(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    const { store } = this.#parts;
    for await (const _ of store.readJournal(id));
    return listCheckpoints(this.stateDirectory, await readState(store, id), store);
  }

  /** As they lie on the disk, each against its own seal: all that can be said when the journal is damaged. */
  async checkpointFiles(idOrKey: string): Promise<readonly CheckpointInfo[]> {
    const { id } = await this.find(idOrKey);
    return listCheckpointFiles(this.stateDirectory, id);
  }

  /** What happened, and with `follow` what happens, in the order of the journal. */
  async *events(idOrKey: string, options?: WatchOptions): AsyncGenerator<SessionEvent> {
    const { id } = await this.find(idOrKey);
    yield* watchSession(this.#parts.store, id, options);
  }

  /** Tokens and money, by whom or by what, with what did not have to be paid. */
  async usage({ session, ...query }: UsageOptions = { by: "persona" }): Promise<UsageReport> {
    const id = session === undefined ? undefined : (await this.find(session)).id;
    return usageReport(this.#parts.store, { ...query, session: id });
  }

  /** What it took day by day, oldest first. */
  async usageSeries({ session, ...query }: UsageOptions): Promise<readonly UsagePoint[]> {
    const id = session === undefined ? undefined : (await this.find(session)).id;
    return this.#parts.store.reports.series({ ...query, session: id });
  }

  /** What each persona used in each phase, and what each attempt has cost, by the seq of its first row. */
  async usageInside(id: SessionId): Promise<UsageInside> {
    const { reports } = this.#parts.store;
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
    return this.#parts.store.reports.calls(id, page);
  }

  /** Warnings about budgets, of all sessions, newest first. */
  alerts(limit: number): Promise<readonly RaisedAlert[]> {
    return this.#parts.store.reports.recentAlerts(limit);
  }

  /** What is left of it, as past runs of its team were; null when it is over. */
  async forecast(idOrKey: string): Promise<SessionForecast | null> {
    const { id } = await this.find(idOrKey);
    return (await this.outlook(await readState(this.#parts.store, id)))?.forecast ?? null;
  }

  /** The same, and what each budget will probably come to. */
  outlook(state: SessionState): Promise<Outlook | null> {
    return outlookOf(state, this.#parts.store);
  }

  /** What it was going to cost when it was made, as far as past runs of its team could say; null: they could not. */
  async forecastAtStart(idOrKey: string): Promise<SessionForecast | null> {
    return forecastAtStart(await this.find(idOrKey), this.#parts.store);
  }

  /** Of calls that are under way, whether there is a budget or not. */
  async reserved(id: SessionId): Promise<Amount> {
    const totals = await this.#parts.store.reports.totals(id);
    return totals.find(({ level }) => level === "session")?.reserved ?? noAmount;
  }

  /** Warnings about the budgets of one session, oldest first. */
  alertsOf(id: SessionId): Promise<readonly (BudgetAlert & { readonly at: number })[]> {
    return this.#parts.store.reports.alerts(id);
  }

  /** Every budget of the session and how much of it is gone. */
  async budgets(idOrKey: string): Promise<readonly BudgetStatus[]> {
    const { id } = await this.find(idOrKey);
    return this.budgetsOf(await readState(this.#parts.store, id));
  }

  /** The content of an artifact that the session points to, and of no other. */
  async artifact(idOrKey: string, sha256: string): Promise<Buffer> {
    const { id } = await this.find(idOrKey);
    const { store, artifacts } = this.#parts;
    if ((await store.reports.findReferenced([sha256], id)).size > 0) return artifacts.get(sha256);
    // Where branches of a graph end beside each other, their files are one only for whoever looks.
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
    return fromManifest((await this.artifact(idOrKey, tree)).toString());
  }

  /** Writes the files as the session has them now, or as a checkpoint has them; files of a person's own are left alone. */
  async writeFiles(idOrKey: string, directory: string, at: FilesAt = {}): Promise<OutResult> {
    const { id } = await this.find(idOrKey);
    return giveOut(await readState(this.#parts.store, id), this.#parts, directory, at);
  }

  /** All that the session needs to go on at another machine, in one file. */
  async exportCheckpoints(idOrKey: string, file: string): Promise<Carried> {
    const { id } = await this.find(idOrKey);
    const { exportCheckpoints } = await import("./export-import.ts");
    return exportCheckpoints(id, file, this.#parts);
  }

  breakers() {
    return this.#parts.store.breakers.list();
  }

  /** With everything the outbox knows. */
  ticketRecords(): Promise<readonly TicketRecord[]> {
    return this.#parts.store.tickets.list();
  }

  /** Ids of stored tickets that cannot be read. */
  damagedTickets(): Promise<readonly string[]> {
    return this.#parts.store.tickets.damaged();
  }

  ticketRecord(fingerprint: string): Promise<TicketRecord | undefined> {
    return this.#parts.store.tickets.find(fingerprint);
  }

  async tickets(): Promise<readonly TicketView[]> {
    return (await this.#parts.store.tickets.list()).map(describeTicket);
  }

  /** Sessions that have a folder but that the database does not know. */
  lostSessions(): Promise<readonly SessionId[]> {
    return this.#parts.lost.list();
  }

  async budgetsOf(state: SessionState): Promise<readonly BudgetStatus[]> {
    const { tracker, budgets, clock } = this.#parts;
    const definition = recordedDefinition(state.created.definition);
    return tracker.statuses(state.id, allBudgets(definition, state, budgets, utcDay(clock.now())));
  }

  protected async ticketsOf(fingerprints: readonly string[]): Promise<readonly TicketView[]> {
    const { tickets } = this.#parts.store;
    const found = await Promise.all(fingerprints.map((fingerprint) => tickets.find(fingerprint)));
    return found.flatMap((record) => (record === undefined ? [] : [describeTicket(record)]));
  }

  /** Ids are long; what nobody could mistake is enough. */
  async #findByPrefix(prefix: string): Promise<SessionRecord | undefined> {
    if (prefix.length < 4) return undefined;
    const found = await this.#parts.store.reports.findByPrefix(prefix);
    if (found.length <= 1) return found[0];
    throw new InputInvalid(`"${prefix}" is the beginning of more than one session.`, {
      details: { sessions: found.map(({ id }) => id) },
      advice: `Give more of it: ${found.map(({ id }) => id).join(", ")}`,
    });
  }
}
