import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import { toJsonText } from "../domain/json.ts";
import { type EffectState, isUnsettled, unsettledIn } from "../journal/effect.ts";
import type { Signal } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { settleAdvice } from "../journal/settle-advice.ts";
import type { Settlement } from "./options.ts";

/** Limits of a result that a person gives. */
const resultLimits = { maxBytes: 64 * 1024, maxDepth: 50 };

/** The signal that settles one effect. `step`: the seq of its intent, or its name if only one effect is unknown. */
export function settlementOf(
  state: SessionState,
  step: number | string,
  settlement: Settlement,
  { isAbandoned }: { readonly isAbandoned: boolean },
): Extract<Signal, { readonly action: "settle" }> {
  const { seq, name } = unsettledEffect(state, step, isAbandoned);
  if (typeof settlement?.happened !== "boolean")
    throw new InputInvalid("A settlement needs { happened: true } or { happened: false }.");
  if (!settlement.happened) return { action: "settle", seq, happened: false };
  const { result } = settlement;
  if (result === undefined) return { action: "settle", seq, happened: true };
  toJsonText(result, { what: `the result of "${name}"`, ...resultLimits });
  return { action: "settle", seq, happened: true, result };
}

function unsettledEffect(state: SessionState, step: number | string, isAbandoned: boolean): EffectState {
  const { id, standing, effects } = state;
  const open = unsettledIn(effects);
  const seq = typeof step === "number" || /^\d+$/.test(step) ? Number(step) : undefined;
  const [effect, ...others] = open.filter((each) =>
    seq === undefined ? each.name === step : each.seq === seq,
  );
  const details = { session: id, unknown: open.map((each) => each.seq) };
  if (effect === undefined) throw noSuchEffect(state, step, seq, details);
  if (others.length > 0)
    throw new SessionConflict(
      `More than one effect "${step}" of session ${id} has an unknown outcome: name it by its number.`,
      {
        details,
        advice: settleAdvice(id, effect.seq),
      },
    );
  // The driver that started the effect will record its outcome.
  if (standing.status === "running" && !("wakeAt" in standing) && !isAbandoned)
    throw new SessionConflict(
      `Session ${id} is running, and the effect "${effect.name}" may still end by itself.`,
      {
        details,
        advice: advise("Pause it first", "pause", id),
      },
    );
  return effect;
}

function noSuchEffect(
  { id, effects }: SessionState,
  step: number | string,
  seq: number | undefined,
  details: Readonly<Record<string, unknown>>,
): SessionConflict {
  const known = seq === undefined ? undefined : effects.get(seq);
  const open = unsettledIn(effects);
  const names = open.map(({ name }) => name);
  if (known !== undefined && !isUnsettled(known))
    return new SessionConflict(`The outcome of the effect "${known.name}" (${known.seq}) is already known.`, {
      details,
      advice: advise("See it", "show", id),
    });
  const what = seq === undefined ? `"${step}"` : `step ${seq}`;
  const list = open.map(({ seq, name }) => `${seq} (${name})`).join(", ");
  return new SessionConflict(
    `Session ${id} has no effect of unknown outcome at ${what}.${seq === undefined ? didYouMean(String(step), names) : ""}`,
    { details, advice: open.length === 0 ? advise("See its effects", "show", id) : `Unknown: ${list}.` },
  );
}
