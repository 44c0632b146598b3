import { type SavingKind, savingKinds, type UsageSums, usageSums, utcDay } from "../../domain/ledger.ts";
import { simulatedName } from "../../domain/simulated.ts";
import { columnOf } from "../../domain/usage.ts";
import type { SessionUsage } from "../../journal/journal.ts";
import type { RunSample, SavedSum, UsageGroup, UsageGroupSums, UsagePoint, UsageQuery } from "../reports.ts";
import type { Dialect, NamedRow, SqlQueries, SqlValue } from "./queries.ts";
import { savedColumns, sumColumns } from "./usage-columns.ts";

/** More groups than a person reads on a screen. The total covers the rest. */
const mostGroups = 1_000;
/** Maximum points of a chart, which cannot show more. */
const mostPoints = 20_000;
/** More sessions would not improve a forecast. */
const mostSessions = 100;

/** One group of everything. */
const noGroup = "CAST(NULL AS TEXT)";

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
         sum(u.cost_micro_usd + u.estimated_micro_usd) AS "microUsd"
       FROM usage u WHERE u.session IN
         (SELECT number FROM sessions WHERE status = 'completed' AND team = ? AND status_at <= ?
           ORDER BY number DESC LIMIT ${mostSessions})
         OR (u.session = ? AND u.session != 0)
       GROUP BY u.session, u.phase, u.persona, u.model ORDER BY u.session, u.phase, u.persona, u.model`;

const reusedBySession = `SELECT phase, persona, model, sum(unpriced) AS unpriced, sum(tokens) AS tokens,
         sum(micro_usd) AS "microUsd"
       FROM savings WHERE session = ? AND kind = 'reuse' GROUP BY phase, persona, model
       ORDER BY phase, persona, model`;

/** Reports from the sums that the writer maintains. */
export class UsageReader {
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries) {
    this.#queries = queries;
  }

  async total(filter: UsageFilter): Promise<UsageGroupSums> {
    const [sums] = await this.#sums(noGroup, filter);
    const reserved = await this.#reserved(noGroup, filter);
    return toGroup(sums ?? {}, await this.#saved(noGroup, filter), reserved.get(null));
  }

  async groups(by: UsageGroup, filter: UsageFilter): Promise<UsageGroupSums[]> {
    const saved = Map.groupBy(await this.#saved(groupColumns[by], filter), ({ name }) => name);
    const reserved = await this.#reserved(groupColumns[by], filter);
    const rows = await this.#sums(groupColumns[by], filter, by);
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
  async snapshot(session: number): Promise<SessionUsage[]> {
    const rows = await this.#queries.allNamed(
      `SELECT day, phase, persona, model, prices, ${sumColumns.join(", ")} FROM usage WHERE session = ?
         ORDER BY day, phase, persona, model, prices`,
      session,
    );
    return rows.map(({ day, phase, persona, model, prices, ...sums }) => ({
      day: String(day),
      phase: String(phase),
      persona: String(persona),
      model: String(model),
      ...(prices !== "" && { prices: String(prices) }),
      sums: Object.fromEntries(sumColumns.map((column) => [column, Number(sums[column])])),
    }));
  }

  /** `also`: another session to include, 0 for none. `at`: as it was then. */
  async history(team: string, also: number, at: number): Promise<RunSample[]> {
    return (await this.#queries.allNamed(historyOfTeam, team, at, also)).map(toSample);
  }

  async reused(session: number): Promise<RunSample[]> {
    return (await this.#queries.allNamed(reusedBySession, session)).map(toSample);
  }

  async byPlace(session: number): Promise<(UsageGroupSums & { phase: string; persona: string })[]> {
    const place = this.#queries.dialect.pair("u.phase", "u.persona");
    const groups = await this.#grouped(place, "u.session = ?", session);
    return groups.map((group) => {
      const [phase, persona] = JSON.parse(group.name ?? "[]") as [string, string];
      return { ...group, phase, persona };
    });
  }

  async series(by: UsageGroup, filter: UsageFilter): Promise<UsagePoint[]> {
    const { where, values } = this.#conditionOf(filter);
    const rows = await this.#queries.allNamed(
      `SELECT u.day, ${groupColumns[by]} AS name, sum(u.input_tokens + u.output_tokens) AS tokens,
           sum(u.cost_micro_usd) AS "microUsd", sum(u.unpriced_calls) AS unpriced
         FROM usage u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY u.day, ${groupColumns[by]} ORDER BY u.day DESC, tokens DESC LIMIT ${mostPoints}`,
      ...values,
    );
    return rows
      .map(({ day, name, tokens, microUsd, unpriced }) => ({
        day: String(day),
        name: name as string | null,
        tokens: Number(tokens),
        microUsd: unpriced === 0 ? Number(microUsd) : null,
      }))
      .toReversed();
  }

  async #grouped(group: string, condition: string, value: string | number): Promise<UsageGroupSums[]> {
    const rowsOf = (table: string, sums: string, also: string) =>
      this.#queries.allNamed(
        `SELECT ${group} AS name, ${sums} FROM ${table} u LEFT JOIN sessions s ON s.number = u.session
           WHERE ${condition} GROUP BY ${group}${also} ORDER BY ${group}${also}`,
        value,
      );
    const savings = await rowsOf("savings", `u.kind, ${sumsOf(savedColumns)}`, ", u.kind");
    const saved = Map.groupBy(savings.map(toNamedSaving), ({ name }) => name);
    const rows = await rowsOf("usage", selectedSums(this.#queries.dialect), "");
    const spent = new Set(rows.map((row) => row["name"]));
    const unspent = [...saved.keys()].filter((name) => !spent.has(name)).map((name) => ({ name }));
    const reserved = await this.#open(group, `AND ${condition}`, value);
    return [...rows, ...unspent].map((row) => {
      const name = row["name"] as string | null;
      return toGroup(row, saved.get(name) ?? [], reserved.get(name));
    });
  }

  #reserved(group: string, filter: UsageFilter): Promise<ReadonlyMap<string | null, number>> {
    const { where, values } = this.#conditionOf(filter);
    return this.#open(group, where.replace("WHERE", "AND"), ...values);
  }

  /** Reservations of calls that have not ended. */
  async #open(
    group: string,
    and: string,
    ...values: SqlValue[]
  ): Promise<ReadonlyMap<string | null, number>> {
    const rows = await this.#queries.allNamed(
      `SELECT ${group} AS name, sum(u.asked_micro_usd) AS reserved
         FROM ledger u LEFT JOIN sessions s ON s.number = u.session
         WHERE u.status = 'open' ${and} GROUP BY ${group}`,
      ...values,
    );
    return new Map(rows.map(({ name, reserved }) => [name as string | null, Number(reserved ?? 0)]));
  }

  async #sums(group: string, filter: UsageFilter, by?: UsageGroup): Promise<NamedRow[]> {
    const { where, values } = this.#conditionOf(filter);
    const order =
      by === "day" ? "name" : "sum(u.input_tokens + u.output_tokens + u.estimated_tokens) DESC, name";
    return this.#queries.allNamed(
      `SELECT ${group} AS name, ${selectedSums(this.#queries.dialect)} FROM usage u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY ${group} ORDER BY ${order} LIMIT ?`,
      ...values,
      filter.most ?? mostGroups,
    );
  }

  async #saved(group: string, filter: UsageFilter): Promise<NamedSaving[]> {
    const sums = sumsOf(savedColumns);
    const { where, values } = this.#conditionOf(filter);
    const rows = await this.#queries.allNamed(
      `SELECT ${group} AS name, u.kind, ${sums} FROM savings u LEFT JOIN sessions s ON s.number = u.session ${where}
         GROUP BY ${group}, u.kind ORDER BY name, u.kind LIMIT ?`,
      ...values,
      (filter.most ?? mostGroups) * savingKinds.length,
    );
    return rows.map(toNamedSaving);
  }

  #conditionOf({ sessions, since }: UsageFilter): { where: string; values: SqlValue[] } {
    // By number, which uses the table's own key however many sessions there are.
    const numbers = `SELECT number FROM sessions WHERE ${this.#queries.dialect.isListed("id")}`;
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
}

type NamedSaving = SavedSum & { readonly name: string | null };

const sumsOf = (columns: readonly string[]): string =>
  columns.map((column) => `sum(u.${column}) AS ${column}`).join(", ");

/** The SQL form of `isSimulated`. */
const ofSimulated = (column: string): string =>
  `sum(CASE WHEN u.model = '${simulatedName}' OR u.model LIKE '${simulatedName}/%' THEN u.${column} ELSE 0 END)`;

const selectedSums = ({
  distinct,
}: Dialect): string => `${sumsOf(sumColumns)}, ${ofSimulated("calls")} AS simulated_calls,
  ${ofSimulated("cost_micro_usd")} AS simulated_micro_usd,
  ${ofSimulated("unreported_calls")} AS simulated_unreported_calls,
  ${ofSimulated("estimated_tokens")} AS simulated_estimated_tokens,
  ${ofSimulated("estimated_micro_usd")} AS simulated_estimated_micro_usd,
  ${distinct("u.prices")} AS prices`;

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
    prices: (JSON.parse((row["prices"] as string | null | undefined) ?? "[]") as string[]).toSorted(),
    reservedMicroUsd,
    saved: saved.map(({ kind, tokens, microUsd, unpriced }) => ({ kind, tokens, microUsd, unpriced })),
  };
}
