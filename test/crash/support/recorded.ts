import { existsSync } from "node:fs";
import { join } from "node:path";
import { type Clock, systemClock } from "../../../src/domain/clock.ts";
import { isCopied, type RecordedRow, type Transition } from "../../../src/journal/journal.ts";
import { decodeTransition, isStep } from "../../../src/journal/journal-codec.ts";
import { SqliteStore } from "../../../src/store/sqlite/sqlite-store.ts";
import type { SessionRecord } from "../../../src/store/store.ts";
import { markOf } from "./effects.ts";

/** Steps that leave a mark when they run. */
const marked = ["step.function", "step.command"];

/** The journal of one session. */
export interface Recorded {
  readonly session: SessionRecord | undefined;
  readonly rows: readonly RecordedRow[];
  /** The marks of the recorded steps. */
  readonly marks: ReadonlySet<string>;
  /** Every recorded step of every attempt and kind, sorted. */
  readonly steps: readonly string[];
  /** Attempts with a result, as marks without a step. */
  readonly completed: ReadonlySet<string>;
}

export function openStore(stateDir: string, leaseMs = 15_000, clock: Clock = systemClock): SqliteStore {
  return new SqliteStore({ path: join(stateDir, "maestro.db"), clock, leaseMs });
}

export const nothingRecorded: Recorded = {
  session: undefined,
  rows: [],
  marks: new Set(),
  steps: [],
  completed: new Set(),
};

/** Reading verifies the hash chain: a damaged journal throws here. */
export async function readRecorded(stateDir: string, key: string): Promise<Recorded> {
  if (!existsSync(join(stateDir, "maestro.db"))) return nothingRecorded;
  const store = openStore(stateDir);
  try {
    const session = await store.findSession(key);
    if (session === undefined) return nothingRecorded;
    const rows: RecordedRow[] = [];
    for await (const page of store.readJournal(session.id)) rows.push(...page);
    return { session, rows, ...stepsOf(rows.filter((row) => !isCopied(row))) };
  } finally {
    await store.close();
  }
}

export function rowsOf<Kind extends Transition["kind"]>(
  { rows }: Pick<Recorded, "rows">,
  kind: Kind,
): Extract<Transition, { kind: Kind }>[] {
  return rows
    .filter((row) => row.kind === kind)
    .map((row) => decodeTransition(row) as Extract<Transition, { kind: Kind }>);
}

function stepsOf(rows: readonly RecordedRow[]): Pick<Recorded, "marks" | "steps" | "completed"> {
  const marks = new Set<string>();
  const steps: string[] = [];
  const completed = new Set<string>();
  const attempts = new Map<number, { readonly persona: string; readonly attempt: number }>();
  const failed = new Map<string, number>();
  for (const row of rows) {
    if (isStep(row)) {
      const of = attempts.get(row.attempt ?? 0);
      if (of === undefined) continue;
      const mark = markOf(of.persona, of.attempt, row.name as string);
      steps.push(`${row.kind} ${mark}, time ${row.occurrence}`);
      if (marked.includes(row.kind)) marks.add(mark);
      continue;
    }
    const entry = decodeTransition(row);
    if (!("persona" in entry) || entry.persona === undefined) continue;
    const { kind, persona } = entry;
    const before = failed.get(persona) ?? 0;
    if (kind === "attempt.started") attempts.set(row.seq, { persona, attempt: before + 1 });
    if (kind === "attempt.completed") completed.add(markOf(persona, before + 1));
    if (kind === "attempt.failed" || kind === "attempt.reopened") failed.set(persona, before + 1);
  }
  return { marks, steps: steps.sort(), completed };
}
