import { type Advice, advise, nameOf, notePlaceholder } from "../domain/advice.ts";
import { isJsonObject, type JsonObject } from "../domain/json-value.ts";
import type { WaitingView } from "./effect-view.ts";
import { callText, choicesOf, type WaitingKind } from "./waiting-call.ts";

// Explains calls and questions that wait for a person.

const mostAdvice = 10;

export const askedTexts = (waiting: readonly WaitingView[]): readonly string[] =>
  callsOf(waiting).map(askedText);

interface AskedCall {
  readonly seq: number;
  readonly kind: WaitingKind;
  readonly persona: string;
  readonly call: JsonObject;
}

/** Calls and questions that no person has answered. */
const callsOf = (waiting: readonly WaitingView[]): readonly AskedCall[] =>
  waiting.flatMap(({ seq, kind, persona, call }) =>
    kind === "call" || kind === "question"
      ? [{ seq, kind, persona: persona ?? "", call: isJsonObject(call) ? call : {} }]
      : [],
  );

const mostCallText = 500;

function askedText({ seq, kind, persona, call }: AskedCall): string {
  const whole = callText(call).replaceAll(/\s+/g, " ").trim();
  const text = whole.length <= mostCallText ? whole : `${whole.slice(0, mostCallText).toWellFormed()}…`;
  if (kind === "call") return withStop(`Call ${seq} of ${persona} waits for approval: ${text}`);
  const choices = choicesOf({ call });
  return `${withStop(`Question ${seq} of ${persona}: ${text}`)}${choices === undefined ? "" : ` Choices: ${choices.join(", ")}.`}`;
}

export function callAdvice(session: {
  readonly id: string;
  readonly key: string | null;
  readonly waiting: readonly WaitingView[];
}): readonly Advice[] {
  const name = nameOf(session);
  const all = callsOf(session.waiting).flatMap(({ seq, kind, call }) => {
    const number = String(seq);
    if (kind === "question") {
      const [choice = "..."] = choicesOf({ call }) ?? [];
      return [advise(`Answer question ${number}`, "answer", name, number, choice)];
    }
    return [
      advise(`Approve call ${number}`, "approve", name, "--call", number),
      advise(
        `Or reject call ${number} and say why`,
        "reject",
        name,
        "--call",
        number,
        "--note",
        notePlaceholder,
      ),
    ];
  });
  return all.slice(0, mostAdvice);
}

const withStop = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);
