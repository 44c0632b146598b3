import { isError, readProperty } from "../../domain/bounded-json.ts";
import { isDeeperThan } from "../../domain/json.ts";
import type { Answer } from "./answer.ts";
import { errorIn, holdsAnswer, reportedStatus } from "./provider-error.ts";
import type { Prompt } from "./sdk-types.ts";

/** Tool arguments nested deeper than this could not be written into the next prompt. */
const maxDepth = 100;

export interface AnswerErrors {
  /** An answer that broke off or makes no sense. */
  readonly broken: (what: string, cause?: unknown) => Error;
  /** An answer that came whole and is of no use: the service works, and its breaker does not count it. */
  readonly useless: (what: string) => Error;
  /** A provider may report an error in the middle of a stream as data. */
  readonly reported: (reported: unknown) => Error;
}

/**
 * The SDK's own classes: their names tell the classifier that the service failed, not the work, so that
 * only this call is repeated.
 */
export function answerErrors(): Promise<AnswerErrors> {
  loaded ??= loadErrors();
  return loaded;
}

let loaded: Promise<AnswerErrors> | undefined;

async function loadErrors(): Promise<AnswerErrors> {
  const { InvalidResponseDataError, NoContentGeneratedError, StreamProviderError } = await import("ai");
  const broken = (what: string, cause?: unknown): Error => {
    const message = `The model's answer is broken: ${what}.`;
    const error = new InvalidResponseDataError({ data: undefined, message });
    return cause === undefined ? error : Object.assign(error, { cause });
  };
  const useless = (what: string): Error =>
    new NoContentGeneratedError({ message: `The model's answer is of no use: ${what}.` });
  const reported = (error: unknown): Error => {
    if (error instanceof Error) return error;
    if (typeof error !== "object" || error === null) {
      return new StreamProviderError({ message: String(error), isRetryable: true });
    }
    const [message, code] = ["message", "code"].map((key) => readProperty(error, key));
    const statusCode = reportedStatus(error);
    return new StreamProviderError({
      message: typeof message === "string" ? message : "The provider reported an error in the stream.",
      // Without a status, assume that the service failed.
      ...(statusCode !== undefined ? { statusCode } : { isRetryable: true }),
      ...((typeof code === "string" || typeof code === "number") && { code }),
      data: readProperty(error, "data") ?? error,
    });
  };
  return { broken, useless, reported };
}

/** Errors that packages throw for an answer that breaks the protocol, besides their own classes. */
const confused: ReadonlySet<string> = new Set([
  "Error",
  "TypeError",
  "SyntaxError",
  "RangeError",
  "AI_JSONParseError",
]);

/** Gives an error of an unreadable answer its class; other errors stay as they are. */
export function readingError(error: unknown, errors: AnswerErrors): unknown {
  if (!isError(error)) return error;
  const links = chainOf(error);
  const status = readProperty(error, "statusCode");
  if (typeof status === "number" && status < 400) {
    const body = readProperty(error, "responseBody");
    const said = typeof body === "string" ? errorIn(body) : undefined;
    if (said !== undefined) return errors.reported(said);
  }
  const mismatch = links.find(({ name }) => name === "AI_TypeValidationError");
  if (mismatch !== undefined && !(typeof status === "number" && status >= 400)) {
    const what = `it is not of the form that was promised: ${mismatchOf(mismatch)}`;
    // An answer that its package cannot read speaks against the answer; something else in its place, against the service.
    return holdsAnswer(readProperty(mismatch, "value")) ? errors.useless(what) : errors.broken(what, error);
  }
  // An error that says neither a status nor a code came from reading the answer; only garbled answers do that.
  const isSaid = links.some((link) =>
    ["code", "statusCode"].some((key) => readProperty(link, key) !== undefined),
  );
  if (!confused.has(error.name) || isSaid) return error;
  const [reason = ""] = error.message.slice(0, 300).split("\n");
  return errors.broken(reason, error);
}

function chainOf(error: Error): readonly Error[] {
  const links: Error[] = [];
  let link: unknown = error;
  for (let depth = 0; isError(link) && depth < 8; depth += 1) {
    links.push(link);
    link = readProperty(link, "cause");
  }
  return links;
}

/** Behind the whole of what was refused. */
function mismatchOf({ message }: Error): string {
  const reason = message.slice(Math.max(message.lastIndexOf("Error message:"), 0)).slice(0, 2000);
  return reason.replace(/\s+/g, " ").slice(0, 300).toWellFormed();
}

/** Refuses what the SDK takes for success, and makes the ids of tool calls unique, before anything is recorded. */
export function checkedAnswer(
  answer: Answer,
  prompt: Prompt,
  numbered: boolean,
  errors: AnswerErrors,
): Answer {
  const { unified, raw } = answer.finishReason;
  if (unified === "interrupted") throw errors.broken("it was interrupted");
  // Without a word of the provider's own it is the package that saw the stream break off.
  if (unified === "error" && raw === undefined) throw errors.broken('it ended with "error"');
  if (unified === "error") throw errors.useless(`it ended with "error" (${raw})`);
  const deep = answer.content.some((part) => part.type === "tool-call" && isDeeperThan(part.input, maxDepth));
  if (deep) throw errors.useless(`arguments of a tool call are nested deeper than ${maxDepth} levels`);
  // Cut at the limit or filtered is an answer of its own kind; otherwise nothing is not an answer.
  if (isEmpty(answer) && unified !== "length" && unified !== "content-filter")
    throw errors.useless("it is empty");
  return { ...answer, content: withUniqueIds(answer, prompt, numbered), finishReason: finishOf(answer) };
}

/** Servers say in words of their own that an answer ended with tool calls; the SDK would not run them. */
function finishOf({ content, finishReason }: Answer): Answer["finishReason"] {
  const calls = content.some((part) => part.type === "tool-call" && part.providerExecuted !== true);
  return calls && finishReason.unified === "other"
    ? { ...finishReason, unified: "tool-calls" }
    : finishReason;
}

/** Reasoning, sources and notes of the provider are not yet an answer. */
const isEmpty = ({ content }: Answer): boolean =>
  !content.some(
    (part) =>
      (part.type === "text" && part.text.trim() !== "") ||
      part.type === "tool-call" ||
      part.type === "tool-result" ||
      part.type === "file",
  );

/**
 * Two calls of one id, in one answer or in the conversation, would corrupt the next prompt. Numbered, they also lead to
 * the same prompts when an answer is asked for again: some packages make ids up at random.
 */
function withUniqueIds({ content }: Answer, prompt: Prompt, numbered: boolean): Answer["content"] {
  const taken = new Set(
    prompt.flatMap(({ role, content }) =>
      role === "assistant"
        ? content.flatMap((part) => (part.type === "tool-call" ? [part.toolCallId] : []))
        : [],
    ),
  );
  // Behind a summary the first calls of the conversation are gone, so counting them is not enough.
  let number = Math.max(0, ...[...taken].map(numberOf));
  return content.map((part) => {
    if (part.type !== "tool-call" || part.providerExecuted === true) return part;
    const mayStay = !numbered && part.toolCallId !== "" && !taken.has(part.toolCallId);
    if (!mayStay) number += 1;
    const toolCallId = mayStay ? part.toolCallId : numberedId(number);
    taken.add(toolCallId);
    return toolCallId === part.toolCallId ? part : { ...part, toolCallId };
  });
}

/** Nine letters and digits: Mistral refuses a request with any other id, and all other servers accept them. */
const numberedId = (number: number): string => `call${number.toString(36).padStart(5, "0")}`;

const numberOf = (id: string): number => Number.parseInt(/^call([0-9a-z]{5})$/.exec(id)?.[1] ?? "0", 36);
