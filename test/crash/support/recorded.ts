import { existsSync } from "node:fs";
import { join } from "node:path";
import { systemClock } from "../../../src/domain/clock.ts";
import type { RecordedRow, Transition } from "../../../src/domain/journal.ts";
import { decodeTransition, isStep } from "../../../src/domain/journal-codec.ts";
import { SqliteStore } from "../../../src/state/sqlite/sqlite-store.ts";
import type { SessionRecord } from "../../../src/state/store.ts";
import { markOf } from "./effects.ts";

/** What the journal of one session says. */
export interface Recorded {
  readonly session: SessionRecord | undefined;
  readonly rows: readonly RecordedRow[];
  /** The marks of the steps that are on record. */
  readonly marks: ReadonlySet<string>;
}

export function openStore(stateDir: string, leaseMs = 15_000): SqliteStore {
  return new SqliteStore({ path: join(stateDir, "maestro.db"), clock: systemClock, leaseMs });
}

/** Reading verifies the hash chain: a damaged journal throws here. */
export async function readRecorded(stateDir: string, key: string): Promise<Recorded> {
  const nothing = { session: undefined, rows: [], marks: new Set<string>() };
  if (!existsSync(join(stateDir, "maestro.db"))) return nothing;
  const store = openStore(stateDir);
  try {
    const session = await store.findSession(key);
    if (session === undefined) return nothing;
    const rows: RecordedRow[] = [];
    for await (const page of store.readJournal(session.id)) rows.push(...page);
    return { session, rows, marks: marksOf(rows) };
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

function marksOf(rows: readonly RecordedRow[]): Set<string> {
  const marks = new Set<string>();
  const attempts = new Map<number, { readonly persona: string; readonly attempt: number }>();
  const counts = new Map<string, number>();
  for (const row of rows) {
    if (row.kind === "attempt.started") {
      const { persona } = decodeTransition(row) as Extract<Transition, { kind: "attempt.started" }>;
      const attempt = (counts.get(persona) ?? 0) + 1;
      counts.set(persona, attempt);
      attempts.set(row.seq, { persona, attempt });
    }
    const of = attempts.get(row.attempt ?? 0);
    if (isStep(row) && row.kind === "step.function" && of !== undefined)
      marks.add(markOf(of.persona, of.attempt, row.name as string));
  }
  return marks;
}
