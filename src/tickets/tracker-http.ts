import { isJsonObject, type Json, type JsonObject, parseJson } from "../domain/json.ts";
import { isRateLimit, type ReadHeader, readRetryAfter } from "../domain/retry-policy.ts";
import {
  AddressRefused,
  type GuardedAnswer,
  guardedRequest,
  NoAnswer,
  type Reach,
} from "../network/guarded-request.ts";
import { cut, oneLine } from "./plain-text.ts";
import { TicketRefused, TicketUnclear } from "./ticket-sink.ts";

export interface TrackerRequest {
  /** The name of the tracker in messages: "Jira". */
  readonly tracker: string;
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly reach: Reach;
  /** The setting that allows internal addresses. */
  readonly allowedBy: string;
}

export interface TrackerAnswer {
  readonly headers: Headers;
  readonly json: Json | undefined;
}

const maxAnswerBytes = 1024 * 1024;

/** Sends one request and reads its whole answer. An error says whether the request may have had an effect. */
export async function callTracker(request: TrackerRequest): Promise<TrackerAnswer> {
  const { tracker, method, headers, body, reach } = request;
  const signal = AbortSignal.any([request.signal, AbortSignal.timeout(request.timeoutMs)]);
  let answer: GuardedAnswer;
  try {
    answer = await guardedRequest({ method, url: new URL(request.url), headers, body, signal, reach });
  } catch (cause) {
    if (cause instanceof AddressRefused) throw internal(request, cause);
    // A shutdown of our own process says nothing about the tracker.
    const fault = request.signal.aborted ? "request" : "outage";
    const why = { cause, fault, advice: "It is tried again by itself." } as const;
    if (cause instanceof NoAnswer && !cause.isSent)
      throw new TicketRefused(`${tracker} could not be reached.`, why);
    throw new TicketUnclear(`${tracker} did not answer.`, why);
  }
  return readAnswer(tracker, answer);
}

function internal({ tracker, allowedBy }: TrackerRequest, { host, address }: AddressRefused): TicketRefused {
  return new TicketRefused(`${tracker}'s host ${host} is not on the public internet.`, {
    fault: "request",
    details: { address },
    advice: `Set ${allowedBy} to true, if internal addresses are what you want.`,
  });
}

async function readAnswer(tracker: string, answer: GuardedAnswer): Promise<TrackerAnswer> {
  const { status, headers } = answer;
  const isGood = status >= 200 && status < 300;
  const outcome = { status, retryAfterMs: readRetryAfter(headerOf(headers), Date.now()) };
  // Redirects are not followed: they would send credentials and ticket to an unconfigured address.
  if (status >= 300 && status < 400) {
    answer.drop();
    const advice = "Configure the address that it redirects to, if you trust it.";
    throw new TicketRefused(`${tracker} redirects elsewhere.`, { ...outcome, fault: "request", advice });
  }
  let bytes: Uint8Array;
  try {
    bytes = await answer.read(maxAnswerBytes);
  } catch (cause) {
    // For a refusal the status is enough. For a success or a gateway error it is not.
    if (!isGood && status < 500) throw refused(tracker, outcome, headers, "");
    throw new TicketUnclear(`${tracker}'s answer broke off.`, { ...outcome, cause, fault: "outage" });
  }
  if (isGood) return { headers, json: jsonOf(bytes) };
  const reason = reasonIn(jsonOf(bytes));
  // After a 5xx or a server timeout the ticket may still have been created.
  if (status >= 500 || status === 408)
    throw new TicketUnclear(`${tracker} failed with status ${status}${reason}.`, {
      ...outcome,
      fault: "outage",
    });
  throw refused(tracker, outcome, headers, reason);
}

function refused(
  tracker: string,
  outcome: { readonly status: number; readonly retryAfterMs: number | undefined },
  headers: Headers,
  reason: string,
): TicketRefused {
  const { status } = outcome;
  return new TicketRefused(`${tracker} refused the request with status ${status}${reason}.`, {
    ...outcome,
    fault: isRateLimit(status, headerOf(headers)) ? "rate-limit" : "request",
    advice: status === 401 || status === 403 ? "Check the credentials and what they permit." : undefined,
  });
}

const headerOf =
  (headers: Headers): ReadHeader =>
  (name) =>
    headers.get(name) ?? undefined;

function jsonOf(bytes: Uint8Array): Json | undefined {
  try {
    return parseJson(bytes, { maxBytes: maxAnswerBytes, what: "the answer" });
  } catch {
    return undefined;
  }
}

/** The reason of a refusal: Jira's `errorMessages` and `errors`, GitHub's `message` and `errors`. */
function reasonIn(json: Json | undefined): string {
  if (!isJsonObject(json)) return "";
  const { errorMessages, errors, message } = json;
  const said = [...textsIn(errorMessages), ...textsIn(message), ...textsIn(errors)].filter(
    (text) => text !== "",
  );
  return said.length === 0 ? "" : `: ${cut(oneLine(said.join("; ")), 500).replace(/\.$/, "")}`;
}

function textsIn(json: Json | undefined): readonly string[] {
  if (typeof json === "string") return [json];
  if (Array.isArray(json)) return json.slice(0, 10).flatMap(textsIn);
  return isJsonObject(json)
    ? Object.entries(json satisfies JsonObject).map(
        ([name, value]) => `${name}: ${textsIn(value).join(", ")}`,
      )
    : [];
}
