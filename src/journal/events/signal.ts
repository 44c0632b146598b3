import { isUnsettled, letRepeat, withEffect } from "../effect.ts";
import { awaiting, rejectPhase } from "../reset-phase.ts";
import * as is from "../schema.ts";
import { changeCardPhase, type SessionCard, withoutCall } from "../session-card.ts";
import type { SessionState } from "../session-state.ts";
import { type Signal, signal, stopRequest } from "../signal.ts";
import { signalText } from "../signal-text.ts";
import { withPhase } from "../update.ts";
import { withWord } from "../waiting-call.ts";
import { event, type RowPlace, shorten } from "./define.ts";

/** A signal from the inbox, now a part of the journal. */
export const signalReceived = event({
  row: is.object({ signal, sentAt: is.time }),
  card: (card, { signal }) => (card === undefined ? undefined : cardAfterSignal(card, signal)),
  reduce(state, { signal }, place) {
    const { action, person } = signal;
    const received = receive(state, signal, place);
    return person === undefined ? received : { ...received, lastWord: `${action} by ${person}` };
  },
  said: ({ signal }) => ({
    action: signal.action,
    text: signalText(signal),
    ...(signal.person !== undefined && { by: signal.person }),
  }),
  fact: ({ signal }) => ({
    action: signal.action,
    note: shortNote(signal),
    ...(signal.person !== undefined && { person: signal.person }),
  }),
  logged: ({ action, person }) => saidBy(action, person),
  sentence: ({ action, note, person }) => `${saidBy(action, person)}${note === null ? "" : `: ${note}`}`,
  isTransition: true,
});

const signalTexts: Readonly<Record<Signal["action"], string>> = {
  pause: "asked to pause",
  cancel: "asked to cancel",
  approve: "approved",
  reject: "rejected",
  settle: "an effect was settled",
  "approve-call": "a call was approved",
  "reject-call": "a call was rejected",
  answer: "a question was answered",
  budget: "a budget was changed",
};

/** A pause or cancel without a name may come from a program. */
function saidBy(action: Signal["action"], person: string | undefined): string {
  const text = signalTexts[action];
  const isUnnamed = person === undefined && (action === "pause" || action === "cancel");
  return isUnnamed ? text : `${text} by ${person ?? "a person"}`;
}

function shortNote(signal: Signal): string | null {
  const note = signal.action === "answer" ? signal.text : "note" in signal ? signal.note : undefined;
  return note === undefined ? null : shorten(note);
}

function receive(state: SessionState, signal: Signal, { seq: row, at }: RowPlace): SessionState {
  switch (signal.action) {
    case "pause":
    case "cancel":
      return { ...state, signals: [...state.signals, signal] };
    case "approve":
      return awaiting(state, signal.phase).reduce(
        (approved, [name]) => withPhase(approved, name, { review: "approved" }),
        state,
      );
    case "reject":
      return rejectReviewed(state, signal);
    case "settle":
      return settle(state, signal, row);
    case "approve-call": {
      const { call, arguments: args } = signal;
      const word = { kind: "approved", ...(args !== undefined && { arguments: args }) } as const;
      return { ...state, calls: withWord(state, call, word, at) };
    }
    case "reject-call":
      return { ...state, calls: withWord(state, signal.call, { kind: "rejected", note: signal.note }, at) };
    case "answer":
      return { ...state, calls: withWord(state, signal.call, { kind: "answered", text: signal.text }, at) };
    case "budget": {
      const name = `${signal.level} ${signal.name ?? ""}`.trim();
      const budget = { ...state.budgets.get(name), ...signal.budget };
      return { ...state, budgets: new Map(state.budgets).set(name, budget) };
    }
  }
}

function rejectReviewed(
  state: SessionState,
  { phase: named, note, repeatEffects }: Extract<Signal, { action: "reject" }>,
): SessionState {
  const reviewed = awaiting(state, named);
  const rejected = reviewed.reduce(
    (before, [name, phase]) => withPhase(before, name, rejectPhase(phase, note)),
    state,
  );
  if (repeatEffects !== true) return rejected;
  const names = reviewed.map(([name]) => name);
  return { ...rejected, effects: letRepeat(state.effects, names) };
}

/** An effect that was settled meanwhile is left unchanged. */
function settle(
  state: SessionState,
  { seq, happened, result }: Extract<Signal, { action: "settle" }>,
  since: number,
): SessionState {
  const effect = state.effects.get(seq);
  if (effect === undefined || !isUnsettled(effect)) return state;
  const outcome = happened
    ? ({ kind: "happened", since, result } as const)
    : ({ kind: "did-not-happen" } as const);
  return { ...state, effects: withEffect(state.effects, seq, { outcome }) };
}

function cardAfterSignal(card: SessionCard, signal: Signal): Partial<SessionCard> | undefined {
  switch (signal.action) {
    case "approve":
      return answered(card, signal.phase);
    case "reject": {
      const phase = signal.phase ?? card.review?.phase;
      if (phase === undefined) return undefined;
      return { ...answered(card, phase), phases: changeCardPhase(card, phase, { status: "pending" }) };
    }
    case "budget":
      return signal.level === "session" ? { raised: { ...card.raised, ...signal.budget } } : undefined;
    case "approve-call":
    case "reject-call":
    case "answer":
      return { calls: withoutCall(card, signal.call) };
    case "pause":
    case "cancel":
      return { stopping: stopRequest(card.stopping, signal) };
    case "settle":
      return undefined;
  }
}

/** A card holds one phase that awaits review. The answer for another phase does not clear it. */
const answered = ({ review }: SessionCard, phase = review?.phase): Partial<SessionCard> =>
  review?.phase === phase ? { review: null } : {};
