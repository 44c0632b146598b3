import { redact } from "../../domain/redact.ts";
import * as is from "../schema.ts";
import { cardLimits, cut, withoutCall } from "../session-card.ts";
import { ofAttempt } from "../values.ts";
import { type CallState, callText } from "../waiting-call.ts";
import { event, shorten } from "./define.ts";

export const waitingEvents = {
  /** A call waits for a person. It has not begun and holds no money. */
  "call.waiting": event({
    row: is.object({
      asks: is.literal("call", "question"),
      name: is.label,
      fingerprint: is.label,
      occurrence: is.positive,
      call: is.jsonObject,
      /** Calls of the same attempt that its work no longer requests. */
      replaces: is.optional(is.list(is.seq)),
      ...ofAttempt,
    }),
    card(card, { asks, phase, persona, call, replaces = [] }, { seq }) {
      if (card === undefined) return undefined;
      const text = cut(redact(callText(call)), cardLimits.textLength);
      const calls = [...withoutCall(card, ...replaces), { seq, asks, phase, persona, text }];
      return { calls: calls.slice(-cardLimits.held) };
    },
    reduce(state, entry, { seq, at }) {
      const { asks, name, fingerprint, occurrence, call: asked, started, phase, persona } = entry;
      const calls = new Map(state.calls);
      for (const replaced of entry.replaces ?? []) {
        const call = calls.get(replaced);
        if (call !== undefined) calls.set(replaced, { ...call, replacedBy: seq });
      }
      const of = { started, phase, persona, asks, name, fingerprint, occurrence, call: asked };
      const waiting: CallState = { ...of, seq, at, word: undefined, replacedBy: undefined };
      return { ...state, calls: calls.set(seq, waiting) };
    },
    fact: ({ asks, call }) => ({ asks, call: shorten(redact(callText(call))) }),
    logged: ({ asks }) => (asks === "question" ? "asks a person" : "waits for a person's approval of a call"),
    sentence: ({ asks, call }) =>
      asks === "question" ? `asks a person: ${call}` : `waits for a person's approval of ${call}`,
    mark: () => "waits",
    isTransition: true,
  }),
};
