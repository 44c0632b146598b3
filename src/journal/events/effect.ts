import { withEffect } from "../effect.ts";
import { processIdentity } from "../process-identity.ts";
import * as is from "../schema.ts";
import { ofAttempt } from "../values.ts";
import { always, event, shorten } from "./define.ts";

export const effectEvents = {
  /** An effect that must not be repeated silently is about to begin. */
  "effect.intended": event({
    row: is.object({
      name: is.text,
      step: is.literal("function", "tool", "command"),
      fingerprint: is.label,
      occurrence: is.positive,
      call: is.optional(is.json),
      processes: is.list(processIdentity, 8),
      ...ofAttempt,
    }),
    reduce(state, { step, call, started, phase, persona, ...entry }, { seq, at }) {
      const { name, fingerprint, occurrence, processes } = entry;
      const of = { started, phase, persona, seq, at, name, kind: step, fingerprint, occurrence, processes };
      const effect = { ...of, call, outcome: { kind: "open" }, repeats: false } as const;
      return { ...state, effects: new Map(state.effects).set(seq, effect) };
    },
    fact: ({ name }) => ({ step: name }),
    logged: () => "begins an effect",
    sentence: ({ step }) => `begins the effect "${step}"`,
    isQuiet: always,
  }),
  /**
   * It is known whether the effect happened. If it did, the step's own row comes right before this one, in the same
   * commit.
   */
  "effect.settled": event({
    row: is.object({
      intent: is.seq,
      name: is.text,
      happened: is.boolean,
      /** `driver`: it never began. */
      by: is.literal("step", "probe", "driver"),
      ...ofAttempt,
    }),
    reduce: (state, { intent, happened }, { seq }) => ({
      ...state,
      effects: withEffect(state.effects, intent, {
        outcome: happened ? { kind: "happened", since: seq, step: seq - 1 } : { kind: "did-not-happen" },
      }),
    }),
    fact: ({ name, happened, by }) => ({ step: name, happened, by }),
    logged: ({ happened }) => `an effect ${happened ? "happened" : "did not happen"}`,
    sentence: ({ step, happened, by }) =>
      `the effect "${step}" ${happened ? "happened" : "did not happen"}${by === "probe" ? ", says its probe" : ""}`,
    isQuiet: ({ by }) => by !== "probe",
  }),
  /** It began and ended, and it is unknown whether it happened. */
  "effect.unknown": event({
    row: is.object({ intent: is.seq, name: is.text, because: is.text, ...ofAttempt }),
    reduce: (state, { intent, because }) => ({
      ...state,
      effects: withEffect(state.effects, intent, { outcome: { kind: "unknown", because } }),
    }),
    fact: ({ name, because }) => ({ step: name, because: shorten(because) }),
    logged: () => "the outcome of an effect is unknown",
    sentence: ({ step, because }) => `the outcome of the effect "${step}" is unknown. ${because}`,
    mark: () => "bad",
    isTransition: true,
    isFailure: always,
  }),
};
