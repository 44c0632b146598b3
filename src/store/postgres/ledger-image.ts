import { type Amount, type BudgetLevelName, type Ledger, noAmount } from "../../domain/budget.ts";
import type { BudgetAlert } from "../../domain/budget-alert.ts";
import { fitReservation } from "../../domain/fit-output.ts";
import {
  type CallEnding,
  type CallPlace,
  countedAs,
  endingOf,
  lostCall,
  nameAt,
  type ReservationId,
  type SavedAmount,
  type Saving,
  type Settlement,
  sumsOf,
  type UsageSums,
  utcDay,
} from "../../domain/ledger.ts";
import { forEachCount } from "../../domain/usage.ts";
import type { SessionUsage } from "../../journal/journal.ts";
import type { RowToWrite } from "../../journal/journal-codec.ts";
import type { Command } from "../command.ts";
import { cacheSaving, countedIn, decideRelease, levelsOf, refusesToSettle } from "../decisions/ledger.ts";
import { decideRate, type RecentCall } from "../decisions/rates.ts";
import type { ReservationAnswer } from "../journal.ts";
import {
  askedOf,
  endingOfRow,
  type LedgerRow,
  type TotalsRow,
  toLedger,
  totalsKey,
  totalsValues,
} from "../sql/ledger-row.ts";
import { sumColumns, type UsagePlace, valuesOf } from "../sql/usage-columns.ts";

type Reserve = Extract<Command, { verb: "reserve" }>;
export type TotalsKey = readonly [session: number, level: string, name: string];

interface Sum {
  readonly key: readonly (number | string)[];
  readonly values: number[];
}

/** Sums by key, to be added to the stored ones. */
class Sums {
  readonly all = new Map<string, Sum>();

  add(key: readonly (number | string)[], values: readonly number[]): void {
    const text = JSON.stringify(key);
    const sum = this.all.get(text);
    if (sum === undefined) this.all.set(text, { key, values: [...values] });
    else for (const [at, value] of values.entries()) sum.values[at] = (sum.values[at] ?? 0) + value;
  }

  of(key: readonly (number | string)[]): readonly number[] | undefined {
    return this.all.get(JSON.stringify(key))?.values;
  }
}

/** Used tokens, dollars and unpriced calls, then the reserved ones. */
const nothing: readonly number[] = [0, 0, 0, 0, 0, 0];

/** The loaded part of the ledger in memory: commands change it, and the transaction saves what they left. */
export class LedgerImage {
  readonly calls = new Map<number, LedgerRow>();
  readonly changed = new Set<number>();
  readonly added: number[] = [];
  readonly removed: number[] = [];
  /** Changes of totals, of usage and of savings. */
  readonly totals = new Sums();
  readonly usage = new Sums();
  readonly savings = new Sums();
  readonly alerts: { readonly session: number; readonly at: number; readonly alert: BudgetAlert }[] = [];
  readonly #loadedTotals = new Map<string, TotalsRow>();
  readonly #knownAlerts = new Set<string>();
  readonly #recent = new Map<string, RecentCall[]>();
  readonly #numbers: number[] = [];

  load(
    calls: readonly LedgerRow[],
    totals: readonly (TotalsRow & { readonly session: number })[],
    alerts: readonly (readonly unknown[])[],
    numbers: readonly number[],
  ): void {
    for (const row of calls) this.calls.set(row.number, row);
    for (const row of totals) this.#loadedTotals.set(textOf([row.session, row.level, row.name]), row);
    for (const key of alerts) this.#knownAlerts.add(JSON.stringify(key));
    this.#numbers.push(...numbers);
  }

  loadRecent(provider: string, calls: readonly RecentCall[]): void {
    this.#recent.set(provider, [...calls]);
  }

  reserve({ session, epoch, at, request, sessionId }: Reserve): ReservationAnswer {
    const { phase, persona, round, attempt, started, model, limits, output, unpriced, prices = "" } = request;
    const place = { phase, persona, session: sessionId, day: utcDay(at) };
    const decision = fitReservation(
      limits
        .filter(({ level }) => levelsOf(model).includes(level))
        .map(({ level, budget }) => ({ level, budget, ledger: this.#ledgerOf(session, level, place) })),
      request.asked,
      output,
      unpriced,
    );
    if (decision.kind !== "granted") return { ...decision, name: nameAt(decision.level, place) };
    const { asked, shrunk } = decision;
    const { rate } = request;
    const recent = rate && this.#recent.get(rate.provider);
    const admission = rate && decideRate(rate, recent ?? [], asked.tokens, at);
    if (admission?.kind === "later") return admission;
    recent?.push({ at, endedAt: null, tokens: asked.tokens });
    const number = this.#numbers.shift();
    if (number === undefined) throw new Error("no number is left for a reservation");
    const call = { phase, persona, round, attempt, started, model, day: place.day, at, prices };
    this.calls.set(number, { ...openCall, ...call, number, session, epoch, ...askedColumns(asked) });
    this.added.push(number);
    for (const level of levelsOf(model))
      this.totals.add(totalsKey(session, level, place), [0, 0, 0, ...totalsValues(asked)]);
    const reservation = String(number) as ReservationId;
    if (shrunk === undefined) return { kind: "granted", reservation };
    const short = { ...shrunk.short, name: nameAt(shrunk.short.level, place) };
    return { kind: "granted", reservation, shrunk: { ...shrunk, short } };
  }

  /** `after`: the seq after which the entries are appended. */
  settle(
    { reservation, spent, failed, found }: Settlement,
    append: { readonly session: number; readonly epoch: number; readonly at: number },
    rows: readonly RowToWrite[],
    after: number,
  ): void {
    const row = this.calls.get(Number(reservation));
    const refusal = refusesToSettle(row, append, found);
    if (row === undefined || refusal !== undefined) throw new Error(`reservation ${reservation} ${refusal}`);
    const stepAt = rows.findIndex(({ kind }) => kind.startsWith("step."));
    const ending = endingOf({ spent, failed });
    this.#end(row, ending, append.at, stepAt === -1 ? null : after + 1 + stepAt);
    const saving = cacheSaving(ending, spent);
    if (saving === undefined) return;
    const { phase, persona, model, session, day } = row;
    this.#save(session, day, { kind: "cache", phase, persona, model, ...saving });
  }

  save(savings: readonly Saving[], session: number, at: number): void {
    const day = utcDay(at);
    for (const saving of savings) {
      if (!("steps" in saving)) this.#save(session, day, saving);
      else for (const step of saving.steps) this.#saveCall(saving.kind, session, step, day);
    }
  }

  release(
    { session, epoch }: { readonly session: number; readonly epoch: number },
    reservation: string,
  ): void {
    const row = this.calls.get(Number(reservation));
    const decision = decideRelease(row, { session, epoch });
    if (row === undefined || decision === "nothing to do") return;
    if (decision === "settled")
      throw new Error(`reservation ${reservation} is settled and cannot be released`);
    this.#takeBack(row, noAmount);
    this.calls.delete(row.number);
    this.removed.push(row.number);
  }

  /** The driver of these calls is dead, so their asked amounts count as used for good. */
  estimateOpen(session: number, at: number): void {
    for (const row of this.calls.values())
      if (row.session === session && row.status === "open") this.#end(row, lostCall, at, null);
  }

  /** Restores the usage of a session from elsewhere: only sums, because the calls are gone. */
  restore(session: number, usage: readonly SessionUsage[], isClaimed = false): void {
    for (const { sums, ...place } of usage) {
      const values = sumColumns.map((column) => sums[column] ?? 0);
      this.usage.add(usageKeyOf({ prices: "", ...place, session }), values);
      const sum = (...names: readonly string[]) => names.reduce((all, name) => all + (sums[name] ?? 0), 0);
      const used = [
        sum("input_tokens", "output_tokens", "estimated_tokens"),
        sum("cost_micro_usd", "estimated_micro_usd"),
        sum("unpriced_calls"),
      ];
      const levels = levelsOf(place.model).filter((level) => !(isClaimed && level === "day"));
      for (const level of levels)
        this.totals.add(totalsKey(session, level, { ...place, session: "" }), [...used, 0, 0, 0]);
    }
  }

  /** Stores the alerts and returns those that were not raised before. */
  raise(session: number, at: number, alerts: readonly BudgetAlert[]): readonly BudgetAlert[] {
    return alerts.filter((alert) => {
      const of = alert.level === "day" ? 0 : session;
      const key = JSON.stringify(alertKey(of, alert));
      if (this.#knownAlerts.has(key)) return false;
      this.#knownAlerts.add(key);
      this.alerts.push({ session: of, at, alert });
      return true;
    });
  }

  #ledgerOf(session: number, level: BudgetLevelName, place: CallPlace): Ledger {
    const key = totalsKey(session, level, place);
    const row = this.#loadedTotals.get(textOf(key));
    const changes = this.totals.of(key) ?? nothing;
    const sum = (stored: number | undefined, part: number): number => (stored ?? 0) + (changes[part] ?? 0);
    return toLedger({
      level,
      name: "",
      usedTokens: sum(row?.usedTokens, 0),
      usedMicroUsd: sum(row?.usedMicroUsd, 1),
      usedUnpriced: sum(row?.usedUnpriced, 2),
      reservedTokens: sum(row?.reservedTokens, 3),
      reservedMicroUsd: sum(row?.reservedMicroUsd, 4),
      reservedUnpriced: sum(row?.reservedUnpriced, 5),
    });
  }

  /** Ends an open call, or replaces an estimate by the real outcome. */
  #end(row: LedgerRow, ending: CallEnding, at: number, step: number | null): void {
    const asked = askedOf(row);
    this.#takeBack(row, countedAs(ending, asked));
    this.#use(row, sumsOf(ending, asked), 1);
    const { status, failed, usage, costMicroUsd } = ending;
    this.calls.set(row.number, {
      ...row,
      step,
      endedAt: at,
      status,
      failed: failed ? 1 : 0,
      ...forEachCount((name) => usage?.[name] ?? null),
      costMicroUsd,
    });
    this.changed.add(row.number);
  }

  /** Removes the row's amounts from every total and adds `used` instead. */
  #takeBack(row: LedgerRow, used: Amount): void {
    const asked = askedOf(row);
    const ending = endingOfRow(row);
    const counted = countedIn(ending, asked);
    if (ending !== undefined) this.#use(row, sumsOf(ending, asked), -1);
    const before = totalsValues(counted.used);
    const changes = [
      ...totalsValues(used).map((value, part) => value - (before[part] as number)),
      ...totalsValues(counted.reserved).map((value) => -value),
    ];
    for (const level of levelsOf(row.model))
      this.totals.add(totalsKey(row.session, level, { ...row, session: "" }), changes);
  }

  #use(place: UsagePlace, sums: UsageSums, sign: 1 | -1): void {
    this.usage.add(
      usageKeyOf(place),
      valuesOf(sums).map((value) => sign * value),
    );
  }

  #save(session: number, day: string, { kind, tokens, microUsd, ...of }: SavedAmount): void {
    const key = [session, day, of.phase, of.persona, of.model, kind];
    this.savings.add(key, [tokens, microUsd ?? 0, microUsd === null ? 1 : 0]);
  }

  #saveCall(kind: Saving["kind"], session: number, step: number, day: string): void {
    const row = [...this.calls.values()].find((call) => call.session === session && call.step === step);
    const ending = row && endingOfRow(row);
    if (row === undefined || ending === undefined) return;
    const { phase, persona, model } = row;
    this.#save(session, day, { kind, phase, persona, model, ...countedAs(ending, askedOf(row)) });
  }
}

export const alertKey = (of: number, { level, name, kind, unit, limit }: BudgetAlert) =>
  [of, level, name, kind, unit, limit] as const;

const openCall = {
  step: null,
  endedAt: null,
  status: "open",
  failed: 0,
  ...forEachCount(() => null),
  costMicroUsd: null,
} as const;

const askedColumns = ({ tokens, microUsd }: Amount) => ({ askedTokens: tokens, askedMicroUsd: microUsd });

const usageKeyOf = ({ session, day, phase, persona, model, prices }: UsagePlace) =>
  [session, day, phase, persona, model, prices] as const;

const textOf = (key: TotalsKey): string => JSON.stringify(key);
