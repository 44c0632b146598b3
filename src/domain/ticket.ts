import { advise } from "./advice.ts";
import { fingerprint } from "./canonical.ts";
import { StateCorrupt } from "./errors.ts";
import { isJsonObject, type Json, type JsonObject } from "./json.ts";
import { redact } from "./redact.ts";

/** A durable request for human help. Plain JSON, which the outbox stores. */
export interface Ticket {
  readonly id: string;
  /** Identifies this ticket in every tracker: one problem in one session, delivered at most once. */
  readonly fingerprint: string;
  /** The problem's label, which the tickets of all its sessions share. */
  readonly problem: string;
  readonly sessionId: string;
  readonly team: string;
  readonly phase: string;
  readonly persona: string;
  readonly category: string;
  readonly summary: string;
  readonly attempts: number;
  readonly failures: readonly TicketFailure[];
  readonly details: string;
  readonly context: Readonly<Record<string, string>>;
  readonly suggestedActions: readonly string[];
  /** Empty if only the program that defines the team can resume the session. */
  readonly resumeCommand: string;
  readonly createdAt: number;
  /** The session's spend so far, if known. */
  readonly spent?: TicketSpend;
  /** Set if it is about a service that sessions wait for, instead of one of them. */
  readonly outage?: TicketOutage;
  /**
   * Set if it asks GitHub for a pull request instead of a person for help: `summary` is the title, `details` the
   * text.
   */
  readonly pullRequest?: PullRequest;
}

export interface PullRequest {
  /** "owner/name" */
  readonly repository: string;
  /** The branch with the work, and its last commit. */
  readonly head: string;
  readonly commit: string;
  /** The branch to merge into. Default: the repository's default branch. */
  readonly base?: string;
}

export interface TicketOutage {
  readonly dependency: string;
  readonly since: number;
  readonly nextProbeAt?: number;
}

export interface TicketFailure {
  readonly round: number;
  readonly attempt: number;
  readonly message: string;
  readonly category?: string;
}

export interface TicketSpend {
  readonly tokens: number;
  readonly microUsd?: number;
}

/** Where a person finds the ticket. */
export interface TicketReference {
  readonly key: string;
  readonly url: string;
}

export interface TicketProblem extends Pick<Ticket, "team" | "phase" | "persona" | "category"> {
  readonly message: string;
}

/** The same problem gets the same label, regardless of its current times, ids, addresses and counts. */
export function problemLabel({ team, phase, persona, category, message }: TicketProblem): string {
  return label({ team, phase, persona, category, message: normalize(message) });
}

/** One ticket for each occasion of a problem: the session that it stopped, or the outage of a dependency. */
export const ticketFingerprint = (problem: string, occasion: string): string => label({ problem, occasion });

/** One for each branch of a session. */
export const pullRequestFingerprint = (of: {
  readonly repository: string;
  readonly branch: string;
  readonly session: string;
}): string => label({ pullRequest: of });

const label = (of: JsonObject): string => `maestro-${fingerprint(of).slice(0, 16)}`;

/** Fingerprints become file names, labels and queries, so nothing else is accepted. */
export const isTicketFingerprint = (text: string): boolean => /^maestro-[0-9a-f]{16}$/.test(text);

/** Its own fingerprint finds it again after an unclear POST. By the problem's label a person finds all of them. */
export const labelsOf = ({ fingerprint, problem }: Ticket): readonly string[] => [
  ...new Set(["maestro", fingerprint, problem]),
];

/** Parts that differ between occurrences. The order matters: a time is not a number, and a path is not an id. */
const passing: readonly (readonly [RegExp, string])[] = [
  // oxlint-disable-next-line no-control-regex -- colors of terminals are exactly that
  [/\u001b\[[0-9;?]*[ -/]*[@-~]/g, ""],
  [/\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:[.,]\d+)?(?: ?(?:Z|[+-]\d\d:?\d\d))?)?/gi, "<time>"],
  [/\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?/g, "<time>"],
  [/\b0x[0-9a-f]+\b/gi, "<address>"],
  [/\[[0-9a-f]*:[0-9a-f:.]*\](?::\d+)?/gi, "<address>"],
  [/\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b/g, "<address>"],
  [/\b([a-z][a-z0-9+.-]*:\/\/[^\s/:?#]+)(?::\d+)?[^\s"'<>)\]]*/gi, "$1"],
  [/(?<![\w.])(?:[a-z]:)?[\\/](?:[\w.@~+-]+[\\/])+/gi, "<path>/"],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/gi, "<id>"],
  [/\b(?=\w*\d)(?=\w*[a-z])[a-z0-9]{12,}\b/gi, "<id>"],
  [/\b(?=[0-9a-f]*\d)[0-9a-f]{7,}\b/gi, "<id>"],
  [/\d+(?:[.,_]\d+)*/g, "<n>"],
  [/\s+/g, " "],
];
const messageRead = 20_000;
const messageKept = 1000;

function normalize(message: string): string {
  let text = redact(message.slice(0, messageRead));
  for (const [pattern, replacement] of passing) text = text.replace(pattern, replacement);
  return text.trim().toLowerCase().toWellFormed().slice(0, messageKept);
}

/** Restored state is checked, never cast. */
export function parseTicket(json: Json): Ticket {
  if (!isJsonObject(json)) throw damagedTicket("it is not an object", json);
  const text = (key: string) => textAt(json, key);
  const fingerprint = text("fingerprint");
  const problem = json.problem === undefined ? fingerprint : text("problem");
  if (![fingerprint, problem].every(isTicketFingerprint)) throw damagedTicket("fingerprint is not one", json);
  return {
    id: text("id"),
    fingerprint,
    problem,
    sessionId: text("sessionId"),
    team: text("team"),
    phase: text("phase"),
    persona: text("persona"),
    category: text("category"),
    summary: text("summary"),
    attempts: wholeNumberAt(json, "attempts"),
    failures: listAt(json, "failures").map(parseFailure),
    details: text("details"),
    context: parseContext(json.context),
    suggestedActions: listAt(json, "suggestedActions").map((_, index, all) => textAt(all, index)),
    resumeCommand: text("resumeCommand"),
    createdAt: wholeNumberAt(json, "createdAt"),
    ...(json.spent !== undefined && { spent: parseSpend(json.spent) }),
    ...(json.outage !== undefined && { outage: parseOutage(json.outage) }),
    ...(json.pullRequest !== undefined && { pullRequest: parsePullRequest(json.pullRequest) }),
  };
}

function parseFailure(json: Json): TicketFailure {
  if (!isJsonObject(json)) throw damagedTicket("a failure is not an object", json);
  const [round, attempt] = [wholeNumberAt(json, "round"), wholeNumberAt(json, "attempt")];
  const category = json.category === undefined ? {} : { category: textAt(json, "category") };
  return { round, attempt, message: textAt(json, "message"), ...category };
}

function parseContext(json: Json | undefined): Readonly<Record<string, string>> {
  if (!isJsonObject(json)) throw damagedTicket("context is not an object", json);
  return Object.fromEntries(Object.keys(json).map((key) => [key, textAt(json, key)]));
}

function parseSpend(json: Json): TicketSpend {
  if (!isJsonObject(json)) throw damagedTicket("spent is not an object", json);
  const tokens = wholeNumberAt(json, "tokens");
  return json.microUsd === undefined ? { tokens } : { tokens, microUsd: wholeNumberAt(json, "microUsd") };
}

function parseOutage(json: Json): TicketOutage {
  if (!isJsonObject(json)) throw damagedTicket("outage is not an object", json);
  const outage = { dependency: textAt(json, "dependency"), since: wholeNumberAt(json, "since") };
  return json.nextProbeAt === undefined
    ? outage
    : { ...outage, nextProbeAt: wholeNumberAt(json, "nextProbeAt") };
}

function parsePullRequest(json: Json): PullRequest {
  if (!isJsonObject(json)) throw damagedTicket("pullRequest is not an object", json);
  const text = (key: string) => textAt(json, key, 1);
  const base = json.base === undefined ? {} : { base: text("base") };
  return { repository: text("repository"), head: text("head"), commit: text("commit"), ...base };
}

export function textAt<Source extends object>(source: Source, key: keyof Source, least = 0): string {
  const value = source[key];
  if (typeof value !== "string" || value.length < least)
    throw damagedTicket(`${String(key)} is not a text`, value as Json);
  return value;
}

export function wholeNumberAt(source: JsonObject, key: string): number {
  const value = source[key];
  if (!Number.isSafeInteger(value) || (value as number) < 0)
    throw damagedTicket(`${key} is not a whole number`, value);
  return value as number;
}

function listAt(source: JsonObject, key: string): readonly Json[] {
  const value = source[key];
  if (!Array.isArray(value)) throw damagedTicket(`${key} is not a list`, value);
  return value;
}

export const damagedTicket = (why: string, found: Json | undefined): StateCorrupt =>
  new StateCorrupt(`a stored ticket is damaged: ${why}`, {
    advice: advise("The session itself is intact. See why it stopped", "show", "<session>"),
    details: { why, found },
  });
