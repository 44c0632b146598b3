import type { Json } from "../domain/json.ts";
import type { ProcessIdentity } from "./process-identity.ts";
import type { StepKind } from "./row.ts";
import type { OfAttempt } from "./values.ts";

/**
 * `open`: it began, and no outcome is recorded. `unknown`: it ended, and no process can tell whether it happened.
 * `since`: the row that records the outcome.
 */
export type EffectOutcome =
  | { readonly kind: "open" }
  | { readonly kind: "unknown"; readonly because: string }
  /** The step's own row has the result. */
  | { readonly kind: "happened"; readonly since: number; readonly step: number }
  /** A person settled it. */
  | { readonly kind: "happened"; readonly since: number; readonly result: Json | undefined }
  | { readonly kind: "did-not-happen" };

/** An effect that must not be repeated silently. Its intent is recorded before it begins. */
export interface EffectState extends OfAttempt {
  /** The row of the intent. */
  readonly seq: number;
  readonly at: number;
  readonly name: string;
  readonly kind: StepKind;
  /** Excludes the files and inputs around it, so that later attempts and rounds find it. */
  readonly fingerprint: string;
  readonly occurrence: number;
  /** The call as shown to people. */
  readonly call: Json | undefined;
  /** The effect can still happen while any of them lives. */
  readonly processes: readonly ProcessIdentity[];
  readonly outcome: EffectOutcome;
  /** A person allowed a repeat, so its outcome is used for no later call. */
  readonly repeats: boolean;
}

export type Effects = ReadonlyMap<number, EffectState>;

export function isUnsettled({ outcome }: EffectState): boolean {
  return outcome.kind === "open" || outcome.kind === "unknown";
}

export function unsettledIn(effects: Effects): readonly EffectState[] {
  return [...effects.values()].filter(isUnsettled);
}

/** Effects of these phases that happened and would happen again if the phases started over. */
export function happenedIn(effects: Effects, phases: Iterable<string>): readonly EffectState[] {
  const among = new Set(phases);
  return [...effects.values()].filter(
    ({ phase, outcome, repeats }) => among.has(phase) && outcome.kind === "happened" && !repeats,
  );
}

/** The effects that a persona's conversation has already performed when it begins with this row. */
export function happenedBefore(
  effects: Effects,
  of: { readonly phase: string; readonly persona: string },
  row: number,
): readonly EffectState[] {
  return happenedIn(effects, [of.phase]).filter(
    ({ persona, outcome }) => persona === of.persona && outcome.kind === "happened" && outcome.since < row,
  );
}

/** The last effect of an equal call of the same persona. */
export function equalEffect(
  effects: Effects,
  { phase, persona, kind, fingerprint, occurrence }: Omit<EqualCall, "name">,
): EffectState | undefined {
  return [...effects.values()].findLast(
    (effect) =>
      effect.fingerprint === fingerprint &&
      effect.occurrence === occurrence &&
      effect.kind === kind &&
      effect.persona === persona &&
      effect.phase === phase &&
      !effect.repeats,
  );
}

export type EqualCall = Pick<
  EffectState,
  "phase" | "persona" | "kind" | "name" | "fingerprint" | "occurrence"
>;

export function withEffect(effects: Effects, seq: number, change: Partial<EffectState>): Effects {
  const effect = effects.get(seq);
  return effect === undefined ? effects : new Map(effects).set(seq, { ...effect, ...change });
}

/** Lets equal calls of these phases run again. Effects that happened stay on the list. */
export function letRepeat(effects: Effects, phases: Iterable<string>): Effects {
  const again = new Set(happenedIn(effects, phases).map(({ seq }) => seq));
  if (again.size === 0) return effects;
  return new Map(
    [...effects].map(([seq, effect]) => [seq, again.has(seq) ? { ...effect, repeats: true } : effect]),
  );
}
