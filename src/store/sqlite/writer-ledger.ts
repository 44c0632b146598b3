import type { DatabaseSync } from "node:sqlite";
import { type Amount, type BudgetLevelName, noAmount } from "../../domain/budget.ts";
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
  type Saving,
  type Settlement,
  sumsOf,
  utcDay,
} from "../../domain/ledger.ts";
import { tokenCounts } from "../../domain/usage.ts";
import type { SessionUsage } from "../../journal/journal.ts";
import type { Command, LedgerCommand, Reply } from "../command.ts";
import { cacheSaving, countedIn, decideRelease, levelsOf, refusesToSettle } from "../decisions/ledger.ts";
import {
  decideRate,
  type Rate,
  type RateDecision,
  type RecentCall,
  rateWindowMs,
} from "../decisions/rates.ts";
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
import { ledgerStatements } from "./ledger-statements.ts";
import { UsageTable } from "./writer-usage.ts";

type Append = Pick<Extract<Command, { verb: "append" }>, "session" | "epoch" | "at" | "rows">;

/** The ledger, inside the writer's transaction: the row of a call and every total it belongs to change together. */
export class LedgerTable {
  readonly #usage: UsageTable;
  readonly #sql;

  constructor(database: DatabaseSync) {
    this.#usage = new UsageTable(database);
    this.#sql = ledgerStatements(database);
  }

  execute(command: LedgerCommand): Reply {
    switch (command.verb) {
      case "reserve":
        return { kind: "reservation", answer: this.#reserve(command) };
      case "release-reservation": {
        this.#release(command);
        return { kind: "done" };
      }
      case "estimate": {
        this.estimateOpen(command.session, command.at);
        return { kind: "done" };
      }
    }
  }

  /** `after`: the seq after which the entries are appended. */
  settle({ reservation, spent, failed, found }: Settlement, append: Append, after: number): void {
    const row = this.#find(reservation);
    const refusal = refusesToSettle(row, append, found);
    if (row === undefined || refusal !== undefined) throw new Error(`reservation ${reservation} ${refusal}`);
    const stepAt = append.rows.findIndex(({ kind }) => kind.startsWith("step."));
    const ending = endingOf({ spent, failed });
    this.#end(row, ending, append.at, stepAt === -1 ? null : after + 1 + stepAt);
    const saving = cacheSaving(ending, spent);
    if (saving === undefined) return;
    const { phase, persona, model, session, day } = row;
    this.#usage.save(session, day, { kind: "cache", phase, persona, model, ...saving });
  }

  save(savings: readonly Saving[], { session, at }: Append): void {
    const day = utcDay(at);
    for (const saving of savings) {
      if (!("steps" in saving)) this.#usage.save(session, day, saving);
      else for (const step of saving.steps) this.#saveCall(saving.kind, session, step, day);
    }
  }

  /** The driver of these calls is dead, so their asked amounts count as used for good. */
  estimateOpen(session: number, at: number): void {
    const open = this.#sql.open.all(session) as unknown as LedgerRow[];
    for (const row of open) this.#end(row, lostCall, at, null);
  }

  /** Restores the usage of a lost session from its newest checkpoint: only sums, because the calls are gone. */
  restore(session: number, usage: readonly SessionUsage[], isClaimed = false): void {
    for (const { sums, ...place } of usage) {
      this.#usage.restore({ prices: "", ...place, session }, sums);
      const sum = (...names: readonly string[]) => names.reduce((all, name) => all + (sums[name] ?? 0), 0);
      const used = [
        sum("input_tokens", "output_tokens", "estimated_tokens"),
        sum("cost_micro_usd", "estimated_micro_usd"),
        sum("unpriced_calls"),
      ];
      const levels = levelsOf(place.model).filter((level) => !(isClaimed && level === "day"));
      for (const level of levels) {
        const key = totalsKey(session, level, { ...place, session: "" });
        this.#sql.reserveTotals.run(...key, ...used);
        this.#sql.moveTotals.run(...used, ...used, ...key);
      }
    }
  }

  /** Like `restore`, for a session of which the database has a part. The usage covers its open calls. */
  catchUp(session: number, usage: readonly SessionUsage[]): void {
    for (const row of this.#sql.open.all(session) as unknown as LedgerRow[]) {
      this.#takeBack(row, noAmount);
      this.#sql.delete.run(row.number);
    }
    const missing = usage.map(({ sums, ...place }) => {
      const known = this.#usage.sumsAt({ prices: "", ...place, session });
      const left = Object.entries(sums).map(([name, sum]) => [name, Math.max(0, sum - (known[name] ?? 0))]);
      return { ...place, sums: Object.fromEntries(left) as SessionUsage["sums"] };
    });
    this.restore(session, missing);
  }

  /**
   * Runs in the transaction that deletes the session's record, so that no report and no day misses or repeats its
   * usage.
   */
  forget(session: number, at: number): void {
    this.estimateOpen(session, at);
    this.#usage.forget(session);
    this.#sql.forgetTotals.run(session);
    this.#sql.forgetAlerts.run(session);
  }

  /** Deletes a slice of a deleted session's calls. True if there are more. */
  deleteRows(session: number, rows: number): boolean {
    return Number(this.#sql.deleteRows.run(session, rows).changes) === rows;
  }

  #reserve(command: Extract<Command, { verb: "reserve" }>): ReservationAnswer {
    const { session, epoch, at, request, sessionId } = command;
    const { phase, persona, round, attempt, started, model, limits, output, unpriced, prices = "" } = request;
    const place = { phase, persona, session: sessionId, day: utcDay(at) };
    const decision = fitReservation(
      limits
        .filter(({ level }) => levelsOf(model).includes(level))
        .map(({ level, budget }) => ({ level, budget, ledger: this.#totals(session, level, place) })),
      request.asked,
      output,
      unpriced,
    );
    if (decision.kind !== "granted") return { ...decision, name: nameAt(decision.level, place) };
    const { asked, shrunk } = decision;
    const admission = request.rate && this.#rate(request.rate, asked, at);
    if (admission?.kind === "later") return admission;
    const { lastInsertRowid } = this.#sql.insert.run(
      session,
      epoch,
      phase,
      persona,
      round,
      attempt,
      started,
      model,
      place.day,
      at,
      asked.tokens,
      asked.microUsd,
      prices,
    );
    for (const level of levelsOf(model))
      this.#sql.reserveTotals.run(...totalsKey(session, level, place), ...totalsValues(asked));
    const reservation = String(lastInsertRowid) as ReservationId;
    if (shrunk === undefined) return { kind: "granted", reservation };
    const short = { ...shrunk.short, name: nameAt(shrunk.short.level, place) };
    return { kind: "granted", reservation, shrunk: { ...shrunk, short } };
  }

  #rate(rate: Rate, { tokens }: Amount, at: number): RateDecision {
    const { provider } = rate;
    const calls = this.#sql.recent.all(at - rateWindowMs, provider, provider, provider);
    return decideRate(rate, calls as unknown as RecentCall[], tokens, at);
  }

  #release({ session, epoch, reservation }: Extract<Command, { verb: "release-reservation" }>): void {
    const row = this.#find(reservation);
    const decision = decideRelease(row, { session, epoch });
    if (row === undefined || decision === "nothing to do") return;
    if (decision === "settled")
      throw new Error(`reservation ${reservation} is settled and cannot be released`);
    this.#takeBack(row, noAmount);
    this.#sql.delete.run(Number(reservation));
  }

  /** Ends an open call, or replaces an estimate by the real outcome. */
  #end(row: LedgerRow, ending: CallEnding, at: number, step: number | null): void {
    const asked = askedOf(row);
    this.#takeBack(row, countedAs(ending, asked));
    this.#usage.add(row, sumsOf(ending, asked), 1);
    const { status, failed, usage, costMicroUsd } = ending;
    this.#sql.end.run(
      step,
      at,
      status,
      failed ? 1 : 0,
      ...tokenCounts.map((name) => usage?.[name] ?? null),
      costMicroUsd,
      row.number,
    );
  }

  /** Removes the row's amounts from every total and adds `used` instead. */
  #takeBack(row: LedgerRow, used: Amount): void {
    const asked = askedOf(row);
    const ending = endingOfRow(row);
    const counted = countedIn(ending, asked);
    if (ending !== undefined) this.#usage.add(row, sumsOf(ending, asked), -1);
    const before = totalsValues(counted.used);
    const changes = [
      ...totalsValues(used).map((value, part) => value - (before[part] as number)),
      ...totalsValues(counted.reserved),
    ];
    const place = { ...row, session: "" };
    for (const level of levelsOf(row.model)) {
      const moved = this.#sql.moveTotals.run(...changes, ...totalsKey(row.session, level, place));
      if (moved.changes !== 1) throw new Error(`there is no total of the ${level} of call ${row.number}`);
    }
  }

  #saveCall(kind: Saving["kind"], session: number, step: number, day: string): void {
    const row = this.#sql.findStep.get(session, step) as unknown as LedgerRow | undefined;
    const ending = row && endingOfRow(row);
    if (row === undefined || ending === undefined) return;
    const { phase, persona, model } = row;
    this.#usage.save(session, day, { kind, phase, persona, model, ...countedAs(ending, askedOf(row)) });
  }

  /** Stores the alerts and returns those that were not raised before. */
  raise(session: number, at: number, alerts: readonly BudgetAlert[]): readonly BudgetAlert[] {
    return alerts.filter(({ level, name, kind, unit, limit, used, expected }) => {
      const of = level === "day" ? 0 : session;
      return this.#sql.raiseAlert.run(of, level, name, kind, unit, limit, used, expected, at).changes === 1;
    });
  }

  #totals(session: number, level: BudgetLevelName, place: CallPlace) {
    const row = this.#sql.totals.get(...totalsKey(session, level, place)) as unknown as TotalsRow | undefined;
    return row === undefined ? { used: noAmount, reserved: noAmount } : toLedger(row);
  }

  #find(reservation: ReservationId): LedgerRow | undefined {
    return this.#sql.find.get(Number(reservation)) as unknown as LedgerRow | undefined;
  }
}
