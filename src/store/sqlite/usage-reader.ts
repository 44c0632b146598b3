import type { SQLInputValue } from "node:sqlite";
import { type SavingKind, savingKinds, type UsageSums, usageSums, utcDay } from "../../domain/ledger.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { columnOf } from "../../domain/usage.ts";
import type { SessionUsage } from "../../journal/journal.ts";
import type { RunSample, SavedSum, UsageGroup, UsageGroupSums, UsagePoint, UsageQuery } from "../reports.ts";
import type { NamedRow, Queries } from "./queries.ts";
import { savedColumns, sumColumns } from "./writer-usage.ts";

/** More groups than a person reads on a screen. The total covers the rest. */
const mostGroups = 1_000;
/** Maximum points of a chart, which cannot show more. */
const mostPoints = 20_000;
/** More sessions would not improve a forecast. */
const mostSessions = 100;

type UsageFilter = Omit<UsageQuery, "by">;

const groupColumns: Readonly<Record<UsageGroup, string>> = {
  persona: "u.persona",
  phase: "u.phase",
  model: "u.model",
  session: "s.id",
  day: "u.day",
};

const historyOfTeam = `SELECT u.phase, u.persona, u.model, sum(u.unpriced_calls) AS unpriced,
         sum(u.input_tokens + u.output_tokens + u.estimated_tokens) AS tokens,
         sum(u.cost_micro_usd + u.estimated_micro_usd) AS microUsd
       FROM usage u WHERE u.session IN
         (SELECT number FROM sessions WHERE status = 'completed' AND team = ? AND status_at <= ?
           ORDER BY number DESC LIMIT ${mostSessions})
         OR (u.session = ? AND u.session != 0)
       GROUP BY u.session, u.phase, u.persona, u.model`;

const reusedBySession = `SELECT phase, persona, model, sum(unpriced) AS unpriced, sum(tokens) AS tokens,
         sum(micro_usd) AS microUsd
       FROM savings WHERE session = ? AND kind = 'reuse' GROUP BY phase, persona, model`;

/** Reports from the sums that the writer maintains. */
export class UsageReader {
  readonly #queries: Queries;

  constructor(queries: Queries) {
    this.#queries = queries;
  }

  total(filter: UsageFilter): UsageGroupSums {
    const [sums] = this.#sums("NULL", filter);
    return toGroup(sums ?? {}, this.#saved("NULL", filter), this.#reserved("NULL", filter).get(null));
  }

  groups(by: UsageGroup, filter: UsageFilter): UsageGroupSums[] {
    const saved = Map.groupBy(this.#saved(groupColumns[by], filter), ({ name }) => name);
    const reserved = this.#reserved(groupColumns[by], filter);
    const rows = this.#sums(groupColumns[by], filter, by);
    const ended = new Set(rows.map((row) => row["name"]));
    // A fork that reuses everything makes no calls, and a first call may not have ended: their groups have no sums.
    const others = [...new Set([...saved.keys(), ...reserved.keys()])].filter((name) => !ended.has(name));
    const room = (filter.most ?? mostGroups) - rows.length;
    const all = [...rows, ...others.slice(0, Math.max(0, room)).map((name) => ({ name }))].map((row) => {
      const name = row["name"] as string | null;
      return toGroup(row, saved.get(name) ?? [], reserved.get(name));
    });
    return by === "day" ? all.sort((a, b) => ((a.name ?? "") < (b.name ?? "") ? -1 : 1)) : all;
  }

  /** Everything that a session has used, for its checkpoints. */
  snapshot(session: number): SessionUsage[] {
    return this.#queries
      .allNamed(
        `SELECT day, phase, persona, model, prices, ${sumColumns.join(", ")} FROM usage WHERE session = ?
         ORDER BY day, phase, persona, model, prices`,
        session,
      )
      .map(({ day, phase, persona, model, prices, ...sums }) => ({
        day: String(day),
        phase: String(phase),
        persona: String(persona),
        model: String(model),
        ...(prices !== "" && { prices: String(prices) }),
        sums: Object.fromEntries(sumColumns.map((column) => [column, Number(sums[column])])),
      }));
  }

  /** `also`: another session to include, 0 for none. `at`: as it was then. */
  history(team: string, also: number, at: number): RunSample[] {
    return this.#queries.allNamed(historyOfTeam, team, at, also).map(toSample);
  }

  reused(session: number): RunSample[] {
    return this.#queries.allNamed(reusedBySession, session).map(toSample);
  }

  byPlace(session: number): (UsageGroupSums & { phase: string; persona: string })[] {
    const groups = this.#grouped("json_array(u.phase, u.persona)", "u.session = ?", session);
    return groups.map((group) => {
      const [phase, persona] = JSON.parse(group.name ?? "[]") as [string, string];
      return { ...group, phase, persona };
    });
  }

  series(by: UsageGroup, filter: UsageFilter): UsagePoint[] {
    const { where, values } = conditionOf(filter);
    return this.#queries
      .allNamed(
        `SELECT u.day, ${groupColumns[by]} AS name, sum(u.input_tokens + u.output_tokens) AS tokens,
           sum(u.cost_micro_usd) AS microUsd, sum(u.unpriced_calls) AS unpriced
         FROM usage u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY u.day, name ORDER BY u.day DESC, tokens DESC LIMIT ${mostPoints}`,
        ...values,
      )
      .map(({ day, name, tokens, microUsd, unpriced }) => ({
        day: String(day),
        name: name as string | null,
        tokens: Number(tokens),
        microUsd: unpriced === 0 ? Number(microUsd) : null,
      }))
      .toReversed();
  }

  #grouped(group: string, condition: string, value: string | number): UsageGroupSums[] {
    const rowsOf = (table: string, sums: string, also: string) =>
      this.#queries.allNamed(
        `SELECT ${group} AS name, ${sums} FROM ${table} u LEFT JOIN sessions s ON s.number = u.session
           WHERE ${condition} GROUP BY ${group}${also}`,
        value,
      );
    const saved = Map.groupBy(
      rowsOf("savings", `u.kind, ${sumsOf(savedColumns)}`, ", u.kind").map(toNamedSaving),
      ({ name }) => name,
    );
    const rows = rowsOf("usage", selectedSums, "");
    const spent = new Set(rows.map((row) => row["name"]));
    const unspent = [...saved.keys()].filter((name) => !spent.has(name)).map((name) => ({ name }));
    const reserved = this.#open(group, `AND ${condition}`, value);
    return [...rows, ...unspent].map((row) => {
      const name = row["name"] as string | null;
      return toGroup(row, saved.get(name) ?? [], reserved.get(name));
    });
  }

  #reserved(group: string, filter: UsageFilter): ReadonlyMap<string | null, number> {
    const { where, values } = conditionOf(filter);
    return this.#open(group, where.replace("WHERE", "AND"), ...values);
  }

  /** Reservations of calls that have not ended. */
  #open(group: string, and: string, ...values: SQLInputValue[]): ReadonlyMap<string | null, number> {
    const rows = this.#queries.allNamed(
      `SELECT ${group} AS name, sum(u.asked_micro_usd) AS reserved
         FROM ledger u LEFT JOIN sessions s ON s.number = u.session
         WHERE u.status = 'open' ${and} GROUP BY ${group}`,
      ...values,
    );
    return new Map(rows.map(({ name, reserved }) => [name as string | null, Number(reserved ?? 0)]));
  }

  #sums(group: string, filter: UsageFilter, by?: UsageGroup): NamedRow[] {
    const { where, values } = conditionOf(filter);
    const order =
      by === "day" ? "name" : "sum(u.input_tokens + u.output_tokens + u.estimated_tokens) DESC, name";
    return this.#queries.allNamed(
      `SELECT ${group} AS name, ${selectedSums} FROM usage u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY ${group} ORDER BY ${order} LIMIT ?`,
      ...values,
      filter.most ?? mostGroups,
    );
  }

  #saved(group: string, filter: UsageFilter): NamedSaving[] {
    const sums = sumsOf(savedColumns);
    const { where, values } = conditionOf(filter);
    return this.#queries
      .allNamed(
        `SELECT ${group} AS name, u.kind, ${sums} FROM savings u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY ${group}, u.kind ORDER BY name, u.kind LIMIT ?`,
        ...values,
        (filter.most ?? mostGroups) * savingKinds.length,
      )
      .map(toNamedSaving);
  }
}

type NamedSaving = SavedSum & { readonly name: string | null };

const sumsOf = (columns: readonly string[]): string =>
  columns.map((column) => `sum(u.${column}) AS ${column}`).join(", ");

/** The SQL form of `isSimulated`. */
const ofSimulated = (column: string): string =>
  `sum(CASE WHEN u.model = '${simulatedName}' OR u.model LIKE '${simulatedName}/%' THEN u.${column} ELSE 0 END)`;

const selectedSums = `${sumsOf(sumColumns)}, ${ofSimulated("calls")} AS simulated_calls,
  ${ofSimulated("cost_micro_usd")} AS simulated_micro_usd,
  ${ofSimulated("unreported_calls")} AS simulated_unreported_calls,
  ${ofSimulated("estimated_tokens")} AS simulated_estimated_tokens,
  ${ofSimulated("estimated_micro_usd")} AS simulated_estimated_micro_usd,
  json_group_array(DISTINCT u.prices) FILTER (WHERE u.prices != '') AS prices`;

function toSample({ phase, persona, model, tokens, microUsd, unpriced }: NamedRow): RunSample {
  return {
    phase: String(phase),
    persona: String(persona),
    model: String(model),
    spent: { tokens: Number(tokens), microUsd: unpriced === 0 ? Number(microUsd) : null },
  };
}

function toNamedSaving(row: NamedRow): NamedSaving {
  return {
    name: row["name"] as string | null,
    kind: row["kind"] as SavingKind,
    tokens: Number(row["tokens"]),
    microUsd: Number(row["micro_usd"]),
    unpriced: Number(row["unpriced"]),
  };
}

function conditionOf({ sessions, since }: UsageFilter): { where: string; values: SQLInputValue[] } {
  // By number, which uses the table's own key however many sessions there are.
  const numbers = "SELECT number FROM sessions WHERE id IN (SELECT value FROM json_each(?))";
  const conditions = [
    ...(sessions === undefined ? [] : [`u.session IN (${numbers})`]),
    ...(since === undefined ? [] : ["u.day >= ?"]),
  ];
  return {
    where: conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`,
    values: [
      ...(sessions === undefined ? [] : [JSON.stringify(sessions)]),
      ...(since === undefined ? [] : [utcDay(since)]),
    ],
  };
}

function toGroup(row: NamedRow, saved: readonly NamedSaving[], reservedMicroUsd = 0): UsageGroupSums {
  const sum = (column: string) => Number(row[column] ?? 0);
  return {
    name: (row["name"] as string | null | undefined) ?? null,
    ...(Object.fromEntries(usageSums.map((name) => [name, sum(columnOf(name))])) as UsageSums),
    simulatedCalls: sum("simulated_calls"),
    simulatedMicroUsd: sum("simulated_micro_usd"),
    simulatedUnreportedCalls: sum("simulated_unreported_calls"),
    simulatedEstimatedTokens: sum("simulated_estimated_tokens"),
    simulatedEstimatedMicroUsd: sum("simulated_estimated_micro_usd"),
    prices: (JSON.parse(String(row["prices"] ?? "[]")) as string[]).toSorted(),
    reservedMicroUsd,
    saved: saved.map(({ kind, tokens, microUsd, unpriced }) => ({ kind, tokens, microUsd, unpriced })),
  };
}
