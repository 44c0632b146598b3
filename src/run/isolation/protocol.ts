import { StringDecoder } from "node:string_decoder";
import type { PriceTable } from "../../cost/price-per-million.ts";
import type { Amount } from "../../domain/budget.ts";
import { type ErrorJson, fromErrorJson, toErrorJson } from "../../domain/error-json.ts";
import { createFailure, type Failure } from "../../domain/failure.ts";
import type { OutputRange } from "../../domain/fit-output.ts";
import { type Json, parseJson } from "../../domain/json.ts";
import type { Spent } from "../../domain/usage.ts";
import { parseBody } from "../../journal/journal-codec.ts";
import type { PersonaContext } from "../../personas/function.ts";
import type { ToolArguments } from "../../personas/tools/tool-call.ts";
import type { Edit } from "../../workspace/edit.ts";
import { recallFailure, rememberFailure } from "../failure/recorded-failure.ts";

// The messages between the server and the process of a persona's function: one JSON document a line. The function runs in
// the child; the journal, the budget, the lease and the files stay in the parent.

/** The descriptors of the child. */
export const descriptors = {
  /** Messages to the child. */
  down: 3,
  /** Messages from the child, and the parent's answers to `list`, for which the child blocks. */
  up: 4,
  /** Ends when the parent dies. The child says on it that it used too much memory. */
  lifeline: 5,
} as const;

/** Said on the lifeline. */
export const outOfMemory = "memory";

/** Where the function is. */
export interface FunctionPlace {
  readonly file: string;
  /** Of the team that the server loaded from the file. */
  readonly fingerprint: string;
  readonly phase: string;
  readonly persona: string;
}

export interface ChildWork
  extends FunctionPlace,
    Pick<PersonaContext, "brief" | "context" | "notes" | "putBack"> {
  readonly prices: PriceTable | undefined;
  readonly stateDirectory?: string | undefined;
  readonly failures: readonly ErrorJson[];
}

/** A request is numbered, and so is the step that it asks for. */
export type ToChild =
  | { readonly kind: "begin"; readonly work: ChildWork }
  /** Call one tool of the persona's team file, and nothing else. */
  | {
      readonly kind: "call";
      readonly place: FunctionPlace;
      readonly tool: string;
      readonly arguments: ToolArguments;
    }
  /** The step is not recorded and is admitted: run its effect. */
  | {
      readonly kind: "run";
      readonly step: number;
      readonly allowedOutput?: number | undefined;
      /** Of a tool, as a person changed them. */
      readonly arguments?: ToolArguments | undefined;
    }
  /** The step's result comes from the record of another session: what did it cost there? */
  | { readonly kind: "price"; readonly step: number; readonly body: string }
  /** The outcome of the step's effect is not known: what does its probe say? */
  | { readonly kind: "probe"; readonly step: number }
  | { readonly kind: "answer"; readonly request: number; readonly outcome: Outcome }
  | { readonly kind: "abort"; readonly reason: Thrown };

export type FromChild =
  /** `within`: the step whose effect asks. */
  | {
      readonly kind: "ask";
      readonly request: number;
      readonly within?: number | undefined;
      readonly ask: Ask;
    }
  | {
      readonly kind: "ran";
      readonly step: number;
      readonly outcome: Outcome;
      readonly spent?: Spent | undefined;
    }
  | { readonly kind: "priced"; readonly step: number; readonly spent: Spent }
  | { readonly kind: "probed"; readonly step: number; readonly outcome: Outcome }
  /** A wait that has a limit of its own begins or ends. */
  | { readonly kind: "wait"; readonly wait: number; readonly isOver: boolean }
  | { readonly kind: "log"; readonly message: string }
  | { readonly kind: "text"; readonly delta: string }
  | { readonly kind: "progress" }
  | { readonly kind: "secrets"; readonly secrets: readonly string[] }
  | { readonly kind: "stray"; readonly error: Thrown }
  | { readonly kind: "returned"; readonly body: string }
  | { readonly kind: "failed"; readonly error: Thrown };

interface AskedStep {
  readonly name: string;
  readonly input: Json;
  readonly dependency?: string | undefined;
  readonly effect?: "repeatable" | "once" | undefined;
  readonly hasProbe?: true | undefined;
}

export type Ask =
  | ({ readonly kind: "step" } & AskedStep)
  | ({
      readonly kind: "model";
      readonly spend?:
        | {
            readonly model: string;
            readonly asked: Amount;
            readonly atMost?: Amount | undefined;
            readonly output?: OutputRange | undefined;
            readonly prices?: string | undefined;
          }
        | undefined;
    } & AskedStep)
  | { readonly kind: "tool"; readonly name: string; readonly arguments: Json }
  /** As text: JSON has no NaN. */
  | { readonly kind: "sleep"; readonly ms: string }
  | { readonly kind: "read" | "readText" | "remove"; readonly path: string }
  | { readonly kind: "move"; readonly from: string; readonly to: string }
  | {
      readonly kind: "write";
      readonly path: string;
      readonly content: { readonly text: string } | { readonly base64: string };
      readonly executable?: boolean | undefined;
    }
  | { readonly kind: "edit"; readonly path: string; readonly edits: readonly Edit[] }
  | { readonly kind: "search"; readonly pattern: string; readonly glob?: string | undefined }
  | { readonly kind: "list"; readonly glob?: string | undefined };

/** `body`: `{"result": ...}` as JSON text, as the journal records it. */
export type Outcome = { readonly body: string } | { readonly error: Thrown };

/** An error with its class, code, causes and classification; `isError: false`: another value was thrown. */
export interface Thrown {
  readonly error: ErrorJson;
  readonly isError: boolean;
  readonly failure?: Failure | undefined;
  readonly stack?: string | undefined;
  /** It is the very error that this request of the child was answered with. */
  readonly request?: number | undefined;
}

/** Without `failure`, the receiver classifies the error when it must. */
export function toThrown(error: unknown, failure: Failure | undefined = recallFailure(error)): Thrown {
  const isError = error instanceof Error;
  const stack = isError && typeof error.stack === "string" ? { stack: error.stack } : {};
  return { error: toErrorJson(error), isError, ...(isError && failure && { failure }), ...stack };
}

/** Status and headers of the error stay behind; its classification came along. */
export function fromThrown({ error, isError, failure, stack }: Thrown): unknown {
  if (!isError) return error.thrown;
  const restored = fromErrorJson(error);
  if (stack !== undefined) Object.defineProperty(restored, "stack", { value: stack, configurable: true });
  // Made again, so that the secrets of this process are masked too.
  if (failure !== undefined) rememberFailure(restored, createFailure(failure));
  return restored;
}

/** The result, or throws the error. */
export function valueOf(outcome: Outcome, restore = fromThrown): unknown {
  if ("error" in outcome) throw restore(outcome.error);
  return (parseBody(outcome.body) as { readonly result?: Json }).result;
}

/** More than the largest result or file takes, in one message or in all that the parent keeps for one child. */
export const mostBytes = 128 * 1024 * 1024;
const mostLineDepth = 1_000;
const newline = 0x0a;

export const lineOf = (message: ToChild | FromChild | Outcome): string => `${JSON.stringify(message)}\n`;

export class MessageTooLong extends Error {}

/** Messages from chunks of bytes, in order. */
export class MessageReader<Message> {
  readonly #decoder = new StringDecoder("utf8");
  readonly #most: number;
  #parts: string[] = [];
  #bytes = 0;

  constructor(most = mostBytes) {
    this.#most = most;
  }

  *read(chunk: Uint8Array): Generator<{ readonly message: Message; readonly bytes: number }> {
    for (let start = 0; ; ) {
      const end = chunk.indexOf(newline, start);
      const part = chunk.subarray(start, end === -1 ? chunk.length : end);
      this.#bytes += part.length;
      if (this.#bytes > this.#most) throw new MessageTooLong("a message is too long");
      this.#parts.push(this.#decoder.write(part));
      if (end === -1) return;
      yield this.#take();
      start = end + 1;
    }
  }

  #take(): { readonly message: Message; readonly bytes: number } {
    const [line, bytes] = [this.#parts.join(""), this.#bytes];
    this.#parts = [];
    this.#bytes = 0;
    const message = parseJson(line, { maxBytes: this.#most, maxDepth: mostLineDepth }) as Message;
    return { message, bytes };
  }
}
