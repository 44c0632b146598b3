import { isoTime, isoTimeOrNull } from "../domain/iso-time.ts";
import { endsAttempt, factOf } from "./facts.ts";
import type { RecordedRow, StepKind, Transition } from "./journal.ts";
import { decodeTransition, isStep } from "./journal-codec.ts";
import type { FactPlace, PublicFact } from "./public-fact.ts";
import { attemptOf, type SessionState } from "./session-state.ts";
import { summarizeStep } from "./step-facts.ts";

export interface AttemptPlace {
  readonly phase: string;
  readonly persona: string;
  readonly round: number;
  readonly attempt: number;
  readonly startedAt: number;
}

/** Finds attempts that began before the reader's first row. */
export type FindAttempt = (started: number) => AttemptPlace | undefined;

/** Turns the rows of one session, in order, into public facts. */
export class FactReader {
  readonly #find: FindAttempt;
  readonly #attempts = new Map<number, AttemptPlace>();
  /** The time of the newest row of each running attempt. */
  readonly #lastAt = new Map<number, number>();

  constructor(find: FindAttempt = () => undefined) {
    this.#find = find;
  }

  read(row: RecordedRow): PublicFact {
    return isStep(row) ? this.#step(row) : this.#transition(row, decodeTransition(row));
  }

  #step(row: RecordedRow): PublicFact {
    const started = row.attempt as number;
    const before = this.#lastAt.get(started);
    this.#lastAt.set(started, row.at);
    const { passed, outcome, until } = summarizeStep(row);
    return {
      ...placeOf(row, this.#placeOf(started), started),
      kind: "step",
      step: row.kind.slice("step.".length) as StepKind,
      name: row.name ?? "",
      passed,
      outcome,
      // The steps of an attempt run one after the other, so a step took the time since the previous row.
      tookMs: before === undefined ? null : Math.max(0, row.at - before),
      until: isoTimeOrNull(until),
    };
  }

  #transition(row: RecordedRow, entry: Transition): PublicFact {
    const { seq, at, epoch } = row;
    const started = startedOf(row, entry);
    if (entry.kind === "attempt.started") {
      const { phase, persona, round, attempt } = entry;
      this.#attempts.set(seq, { phase, persona, round, attempt, startedAt: at });
    }
    if (started !== undefined) this.#lastAt.set(started, at);
    const place = started === undefined ? undefined : this.#placeOf(started);
    const named = entry.kind === "signal.received" ? entry.signal : entry;
    const fact = factOf(entry, { at, epoch, startedAt: place?.startedAt });
    if (endsAttempt(fact) && started !== undefined) this.#lastAt.delete(started);
    return { ...placeOf(row, place ?? named, started ?? null), ...fact };
  }

  #placeOf(started: number): AttemptPlace | undefined {
    const known = this.#attempts.get(started) ?? this.#find(started);
    if (known !== undefined) this.#attempts.set(started, known);
    return known;
  }
}

/** The attempt of a transition, by the seq of its first row. */
export function startedOf({ seq }: Pick<RecordedRow, "seq">, entry: Transition): number | undefined {
  if (entry.kind === "attempt.started") return seq;
  return "started" in entry ? entry.started : undefined;
}

export const attemptsOf =
  (state: SessionState): FindAttempt =>
  (started) => {
    const running = state.running.get(started);
    if (running !== undefined) return attemptOf(state, running);
    for (const { personas } of state.phases.values())
      for (const { attempts } of personas.values()) {
        const found = attempts.findLast((attempt) => attempt.started === started);
        if (found !== undefined) return found;
      }
    return undefined;
  };

function placeOf({ seq, at }: RecordedRow, named: object | undefined, started: number | null): FactPlace {
  const { phase = null, persona = null, round = null, attempt = null } = (named ?? {}) as Partial<FactPlace>;
  return { seq, at: isoTime(at), phase, persona, round, attempt, started };
}
