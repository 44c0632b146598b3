import { count } from "../domain/amounts.ts";
import type { PersonaState, PhaseState } from "./session-state.ts";
import type { SessionStatus } from "./standing.ts";
import type { AfterFailure } from "./values.ts";

/** A persona gets no other attempt. `help`: until a person acts. `stop`: its failure stops the session. */
export type Exhausted = Extract<AfterFailure["kind"], "help" | "stop">;

export const exhaustedBy = (next: AfterFailure["kind"]): Exhausted | null =>
  next === "help" || next === "stop" ? next : null;

/** Null if it works, has a result, or has been granted new rounds since its last failure. */
export function exhaustedOf({ attempts, result, roundsUsedBefore }: PersonaState): Exhausted | null {
  const last = attempts.at(-1);
  if (last?.next === undefined || last.status !== "failed" || result !== undefined) return null;
  return last.round > roundsUsedBefore ? exhaustedBy(last.next.kind) : null;
}

export const exhaustedIn = ({ personas }: PhaseState): readonly (Exhausted | null)[] =>
  [...personas.values()].map(exhaustedOf);

/**
 * Whether an unfinished phase has failed. While its session runs, its other personas still work. A failure that only
 * parked the session, such as a missing budget, does not fail the phase.
 */
export const hasFailed = (exhausted: readonly (Exhausted | null)[], session: SessionStatus): boolean =>
  session !== "running" &&
  exhausted.some((each) => each === "help" || (each === "stop" && session === "failed"));

/** "1 persona needs you when this phase ends". Null if none does. `more`: the list does not have all of them. */
export function needsYouText(
  exhausted: readonly { readonly phase: string; readonly next: Exhausted }[],
  { more = false }: { readonly more?: boolean } = {},
): string | null {
  const needs = exhausted.filter(({ next }) => next === "help");
  if (needs.length === 0) return null;
  const phases = new Set(needs.map(({ phase }) => phase)).size;
  const personas = more ? `At least ${count(needs.length, "persona")}` : count(needs.length, "persona");
  const verb = needs.length === 1 && !more ? "needs" : "need";
  return `${personas} ${verb} you when ${phases === 1 ? "this phase ends" : "their phases end"}`;
}
