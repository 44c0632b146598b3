import type { Json, JsonObject } from "../domain/json.ts";
import type { OfAttempt } from "./values.ts";

/** `call`: a person approves or rejects it before it begins. `question`: a person's answer is its result. */
export type WaitingKind = "call" | "question";

/** A person's decision about a call. */
export type Word =
  | { readonly kind: "approved"; readonly arguments?: JsonObject }
  | { readonly kind: "rejected"; readonly note: string }
  | { readonly kind: "answered"; readonly text: string };

/** A call of a persona that waits or waited for a person. */
export interface CallState extends OfAttempt {
  /** The row that records the wait. */
  readonly seq: number;
  readonly at: number;
  readonly asks: WaitingKind;
  readonly name: string;
  /** The identity of its step, to which a person's decision is bound. */
  readonly fingerprint: string;
  readonly occurrence: number;
  /** The tool and its arguments, as shown to people. */
  readonly call: JsonObject;
  readonly word: (Word & { readonly saidAt: number }) | undefined;
  /** The persona requested other calls instead: the row of the first of them. */
  readonly replacedBy: number | undefined;
}

export type Calls = ReadonlyMap<number, CallState>;

interface InSession {
  readonly calls: Calls;
  /** Running attempts. */
  readonly running: ReadonlyMap<number, unknown>;
}

type Identity = Pick<CallState, "fingerprint" | "occurrence">;
type Attempts = readonly { readonly started: number; readonly continues: number | undefined }[];

/** An attempt that has ended waits for nothing. */
export const isUnanswered = (
  { word, replacedBy, started }: CallState,
  { running }: Pick<InSession, "running">,
): boolean => word === undefined && replacedBy === undefined && running.has(started);

export function unansweredIn(state: InSession): readonly CallState[] {
  return [...state.calls.values()].filter((call) => isUnanswered(call, state));
}

/** The call that already waits for a decision about this step. */
export function waitingCall(state: InSession, started: number, identity: Identity): CallState | undefined {
  return unansweredIn(state).find((call) => call.started === started && isSame(call, identity));
}

/**
 * A person's decision about this step. A rejection and an answer also apply to an equal call of a later attempt. An
 * approval is for one call: it applies in the attempt that asked for it, and in those that continue it.
 */
export function wordFor(
  { calls }: Pick<InSession, "calls">,
  { started, phase, persona }: OfAttempt,
  attempts: Attempts,
  identity: Identity,
): Word | undefined {
  const line = lineOf(started, attempts);
  return [...calls.values()].findLast(
    (call) =>
      isSame(call, identity) &&
      call.phase === phase &&
      call.persona === persona &&
      call.word !== undefined &&
      (call.word.kind !== "approved" || line.has(call.started)),
  )?.word;
}

/** The first decision counts, and a decision about an abandoned call has no effect. */
export function withWord(state: InSession, seq: number, word: Word, at: number): Calls {
  const call = state.calls.get(seq);
  if (call === undefined || !isUnanswered(call, state)) return state.calls;
  return new Map(state.calls).set(seq, { ...call, word: { ...word, saidAt: at } });
}

/** The choices of a question; undefined if any answer is allowed. */
export function choicesOf({ call }: Pick<CallState, "call">): readonly string[] | undefined {
  const choices = argumentsOf(call)["choices"];
  return Array.isArray(choices) ? choices.filter((one) => typeof one === "string") : undefined;
}

export const questionOf = ({ call }: { readonly call: JsonObject }): string =>
  textOf(argumentsOf(call)["question"]);

/** The recorded arguments of a call. */
export function argumentsOf(call: JsonObject): JsonObject {
  const args = call["arguments"];
  return typeof args === "object" && args !== null && !Array.isArray(args) ? (args as JsonObject) : {};
}

/** A call as one line: its command or its question. */
export function callText(call: JsonObject): string {
  const args = argumentsOf(call);
  const { command, argv, question } = args;
  if (typeof question === "string") return question;
  const told =
    typeof command === "string" ? command : Array.isArray(argv) ? argv.join(" ") : JSON.stringify(args);
  return `${textOf(call["tool"])}: ${told}`;
}

const textOf = (value: Json | undefined): string => (typeof value === "string" ? value : "");

const isSame = (call: CallState, { fingerprint, occurrence }: Identity): boolean =>
  call.fingerprint === fingerprint && call.occurrence === occurrence;

/** The attempt, and those that it continues. */
function lineOf(started: number, attempts: Attempts): ReadonlySet<number> {
  const line = new Set<number>();
  for (let next: number | undefined = started; next !== undefined && !line.has(next); ) {
    const current: number = next;
    line.add(current);
    next = attempts.find((attempt) => attempt.started === current)?.continues;
  }
  return line;
}
