import type { FactContext, FactMark, Wording } from "./events/define.ts";
import { eventOf, type Transition } from "./events.ts";
import type { Fact, FactBodies, OtherFacts } from "./public-fact.ts";

export { gateClause, gateFact } from "./events/phase.ts";

/** Wording of facts that do not come from transition rows. */
const others: { readonly [Kind in keyof OtherFacts]: Wording<FactBodies[Kind]> } = {
  step: {
    logged: ({ step, name, passed }) =>
      `${step} step${step === "model" || step === "check" ? ` ${name}` : ""} ${passed ? "recorded" : "failed"}`,
    sentence: ({ step, name, outcome }) =>
      `${step === "check" ? "check " : step === "wait" ? "waits: " : ""}${name} ${outcome}`.trim(),
    mark: ({ step, passed }) => (passed ? (step === "check" ? "good" : null) : "bad"),
    isFailure: ({ passed }) => !passed,
  },
  "budget.reserved": {
    logged: "sentence",
    sentence: ({ call, usd, tokens }) =>
      `${call} reserved ${usd === null ? `${tokens.toLocaleString("en-US")} tokens` : dollars(usd)}`,
  },
  "budget.settled": {
    logged: "sentence",
    sentence: ({ call, usd, inputTokens, outputTokens }) => {
      const spent = usd === null ? "at an unknown price" : dollars(usd);
      const tokens = `${inputTokens.toLocaleString("en-US")} tokens in, ${outputTokens.toLocaleString("en-US")} out`;
      return `${call} settled ${spent}, ${tokens}`;
    },
  },
};

/** The public fact of a transition. `FactReader` makes those of steps. */
export function factOf(entry: Transition, context: FactContext): Fact {
  return { kind: entry.kind, ...eventOf(entry.kind)?.fact(entry, context) } as Fact;
}

/** Undefined for a kind that a newer server sends and this page does not know. */
function wordingOf({ kind }: Fact): Wording<object> | undefined {
  const other = Object.hasOwn(others, kind) ? others[kind as keyof OtherFacts] : undefined;
  return (other as Wording<object> | undefined) ?? eventOf(kind);
}

export const sentenceOf = (fact: Fact): string =>
  wordingOf(fact)?.sentence(fact) ?? (fact as { readonly kind: string }).kind;
/** The sentence for logs, which contains no text of people, models and programs. */
export function loggedOf(fact: Fact): string {
  const logged = wordingOf(fact)?.logged ?? "sentence";
  return logged === "sentence" ? sentenceOf(fact) : logged(fact);
}
export const markOf = (fact: Fact): FactMark | null => wordingOf(fact)?.mark?.(fact) ?? null;
export const isTransition = (fact: Fact): boolean => wordingOf(fact)?.isTransition === true;
export const isQuiet = (fact: Fact): boolean => wordingOf(fact)?.isQuiet?.(fact) === true;
export const isFailure = (fact: Fact): boolean => wordingOf(fact)?.isFailure?.(fact) === true;
export const beginsDrive = ({ kind }: { readonly kind: string }): boolean =>
  eventOf(kind)?.beginsDrive === true;
export const endsDrive = ({ kind }: { readonly kind: string }): boolean => eventOf(kind)?.endsDrive === true;
export const endsAttempt = (fact: Fact): boolean => wordingOf(fact)?.endsAttempt === true;

const dollars = (usd: number): string => `$${usd.toFixed(usd > 0 && usd < 0.01 ? 4 : 2)}`;
