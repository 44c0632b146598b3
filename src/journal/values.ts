import type { Advice } from "../domain/advice.ts";
import { type Attachment, attachmentTypes } from "../domain/attachment.ts";
import { type Budget, type BudgetChange, budgetLevels } from "../domain/budget.ts";
import type { BudgetAlert } from "../domain/budget-alert.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import type { AttemptSettings, FixedImport, Healed, HealingAction } from "../domain/healing-action.ts";
import { isJsonObject, type Json } from "../domain/json-value.ts";
import { usageSums } from "../domain/ledger.ts";
import type { ProtectedChange, PutBack } from "../domain/put-back.ts";
import { columnOf } from "../domain/usage.ts";
import { failureFields, gateResult, personaChecks } from "./judgment-values.ts";
import * as is from "./schema.ts";
import { source } from "./source.ts";

/**
 * `start`: the first claim, one phase alone, or a resume after a clean end. `resume`: a person asked. `wake`: a
 * wait without a driver is over. `recovery`: automatic, after an unclean end. `signal`: only to apply a signal.
 */
export const claimCause = is.literal("start", "resume", "wake", "recovery", "signal");
export type ClaimCause = is.TypeOf<typeof claimCause>;

/** A choice with its reason and the rejected alternatives. */
export interface Decision {
  readonly title: string;
  readonly choice: string;
  readonly reason: string;
  readonly rejected: readonly string[];
}

export const decisionFields: is.FieldsFor<Decision> = {
  title: is.text,
  choice: is.text,
  reason: is.text,
  rejected: is.list(is.text),
};
export const decision = is.objectFor<Decision>(decisionFields);

export interface PersonaResult {
  readonly summary: string;
  readonly outputs: Readonly<Record<string, Json>>;
  readonly decisions?: readonly Decision[];
}

export const personaResult = is.objectFor<PersonaResult>({
  summary: is.text,
  outputs: is.record(is.json, is.text),
  decisions: is.optional(is.list(decision)),
});

export const advice = is.objectFor<Advice>({
  text: is.text,
  command: is.nullable(is.list(is.text)),
});

export const errorJson: is.Schema<ErrorJson> = is.objectFor<ErrorJson>({
  name: is.text,
  message: is.text,
  code: is.optional(is.either(is.text, is.number)),
  details: is.optional(is.jsonObject),
  advice: is.optional(is.text),
  actions: is.optional(is.list(advice)),
  cause: is.optional(is.lazy(() => errorJson)),
  errors: is.optional(is.list(is.lazy(() => errorJson))),
  thrown: is.optional(is.json),
});

/** A failure as classified when it was fresh, with the error itself. */
export interface RecordedFailure extends Failure {
  readonly error: ErrorJson;
}
export const recordedFailure = is.objectFor<RecordedFailure>({ ...failureFields, error: errorJson });

export const budget = is.objectFor<Budget>({
  tokens: is.optional(is.whole),
  microUsd: is.optional(is.whole),
});

export const budgetChange = is.objectFor<BudgetChange>({
  tokens: is.optional(is.nullable(is.whole)),
  microUsd: is.optional(is.nullable(is.whole)),
});

export const budgetAlert = is.objectFor<BudgetAlert>({
  kind: is.literal("threshold", "forecast"),
  level: is.literal(...budgetLevels),
  name: is.label,
  unit: is.literal("tokens", "usd"),
  limit: is.whole,
  used: is.whole,
  expected: is.nullable(is.number),
});

const attemptSettingsFields: is.FieldsFor<AttemptSettings> = {
  model: is.optional(is.label),
  contextShare: is.optional(is.number),
  timeoutMs: is.optional(is.number),
  maxOutputTokens: is.optional(is.number),
};
export const attemptSettings = is.objectFor<AttemptSettings>(attemptSettingsFields);

const paths = is.list(is.text);
const more = is.optional(is.whole);

const healingAction = is.unionFor<HealingAction, "kind">("kind", {
  "edited-files": { paths, more },
  "ran-tool": { argv: is.list(is.text), paths, more },
  "installed-dependency": { name: is.text, version: is.text, paths, more },
  "fixed-imports": {
    imports: is.list(is.objectFor<FixedImport>({ path: is.text, from: is.text, to: is.text })),
    more,
  },
  "repaired-outputs": { members: is.list(is.text), more },
  "shortened-context": { from: is.number, to: is.number },
  "switched-model": { from: is.label, to: is.label },
  "raised-limit": { limit: is.literal("timeoutMs", "maxOutputTokens"), from: is.number, to: is.number },
  custom: {
    words: is.text,
    paths,
    members: is.list(is.text),
    settings: is.optional(is.object({ from: attemptSettings, to: attemptSettings })),
    more,
  },
});

export const healed = is.objectFor<Healed>({
  healer: is.text,
  action: is.text,
  did: healingAction,
  outcome: is.literal("passed", "rolled-back", "kept"),
  forbidden: is.optional(is.text),
});

export const putBack = is.objectFor<PutBack>({
  files: is.list(is.objectFor<ProtectedChange>({ path: is.text, why: is.text })),
  more: is.whole,
});

/** How far a person wants the session to go. Empty means to the end. */
export const direction = is.object({
  only: is.optional(is.list(is.name)),
  from: is.optional(is.name),
  /** Inclusive. */
  until: is.optional(is.name),
  /** Park for review after these. */
  pauseAfter: is.optional(is.list(is.name)),
});
export type Direction = is.TypeOf<typeof direction>;

/** The files of a phase before and after a person changed them. */
export const filesEdit = is.object({ base: is.optional(is.sha256), tree: is.optional(is.sha256) });
export type FilesEdit = is.TypeOf<typeof filesEdit>;

/** Files given for a phase from outside, and their origin. */
export interface GivenFiles extends FilesEdit {
  readonly origin: string;
}

/** Phase content that no persona of this session made: from outside, or edited by a person. */
export const phaseContent = is.object({
  phase: is.name,
  results: is.record(personaResult, is.name),
  /** The files that it began with. Where branches meet, these define its changes. */
  base: is.optional(is.sha256),
  tree: is.optional(is.sha256),
  /** Judged by the contracts, without commands. */
  gate: is.optional(gateResult),
  checks: is.optional(is.list(personaChecks)),
});
export type PhaseContent = is.TypeOf<typeof phaseContent>;

export const givenPhase = is.extend(phaseContent, { origin: is.text });
export type GivenPhase = is.TypeOf<typeof givenPhase>;

/** The session that a fork was made from, and the request. */
export const forkOrigin = is.object({
  session: is.label,
  at: is.label,
  fresh: is.boolean,
  edited: is.list(phaseContent),
});
export type ForkOrigin = is.TypeOf<typeof forkOrigin>;

const plannedPersona = is.loose({ name: is.name, work: is.optional(is.loose({ kind: is.label })) });
const plannedPhase = is.loose({
  name: is.name,
  dependsOn: is.optional(is.list(is.name)),
  personas: is.optional(is.list(plannedPersona)),
});
/** The parts of a recorded team that the journal reads. `team/` reads the rest when the session runs. */
export const definition: is.Schema<Json> = is.loose({
  phases: is.list(plannedPhase),
  budget: is.optional(
    is.nullable(
      is.loose({ tokens: is.optional(is.nullable(is.whole)), usd: is.optional(is.nullable(is.number)) }),
    ),
  ),
});

/** Everything that a session is created with. */
export const attachment = is.objectFor<Attachment>({
  name: is.label,
  mediaType: is.literal(...attachmentTypes),
  sha256: is.sha256,
  bytes: is.whole,
});

export const sessionTerms = is.object({
  team: is.label,
  definition,
  teamFingerprint: is.label,
  teamFile: is.optional(is.text),
  brief: is.text,
  /** Files that belong to the brief, by the hashes of their contents. */
  attachments: is.optional(is.list(attachment)),
  key: is.optional(is.label),
  /** The person who started it, by the name of the token. */
  owner: is.optional(is.label),
  model: is.optional(is.label),
  /** Its queue and priority among sessions that wait for a place. Default: "default" and 0. */
  queue: is.optional(is.name),
  priority: is.optional(is.priority),
  /** The limit that it was started with. */
  budget: is.optional(budget),
  source: is.optional(source),
  /** Phases that came from outside, treated as if they had run. */
  given: is.optional(is.list(givenPhase)),
  /** The session that this one was forked from, and the phase from which it differs. */
  fork: is.optional(forkOrigin),
  /** The decisions of its planning, which the first driver records as rows. */
  decisions: is.optional(is.list(decision)),
});
export type SessionTerms = is.TypeOf<typeof sessionTerms>;
export type SessionCreated = { readonly kind: "session.created" } & SessionTerms;

/** The last row's seq and chain hash. */
export const journalHead = is.object({ seq: is.seq, hash: is.headHash });
export type JournalHead = is.TypeOf<typeof journalHead>;

export const paidAmount = is.object({
  model: is.label,
  tokens: is.whole,
  microUsd: is.nullable(is.whole),
});
export type PaidAmount = is.TypeOf<typeof paidAmount>;

export const personaSpent = is.object({
  phase: is.name,
  persona: is.name,
  amounts: is.list(paidAmount),
});
export type PersonaSpent = is.TypeOf<typeof personaSpent>;

/** The sums of usage, named like the store's columns. */
export const usageColumns: readonly string[] = usageSums.map(columnOf);

/**
 * Maximum of all sums of a session: a trillion tokens, or a million dollars. Thousands of sessions still add up
 * exactly.
 */
export const largestUsage = 1_000_000_000_000;

/** Usage of one model on one day, by one persona in one phase. */
export const sessionUsage = is.object({
  day: is.day,
  phase: is.label,
  persona: is.label,
  model: is.label,
  /** Version of the price table. */
  prices: is.optional(is.label),
  sums: is.record(is.whole, is.literal(...usageColumns)),
});
export type SessionUsage = is.TypeOf<typeof sessionUsage>;

/**
 * A recorded wait: until `notBefore`, and never longer than `waitMs` whatever the clock does. `restedMs`: how long
 * its session had rested by then.
 */
export const wait = is.object({
  notBefore: is.time,
  waitMs: is.number,
  restedMs: is.optional(is.whole),
});
export type Wait = is.TypeOf<typeof wait>;

export const afterFailure = is.union(
  /** `continues`: the next attempt inherits the steps of this one and repeats only the failed call. */
  {
    kind: is.literal("attempt", "round"),
    wait,
    continues: is.boolean,
    /** The round ended early: the attempt that began there failed equally and left equal files. */
    sameAs: is.optional(is.whole),
  },
  /**
   * Every round is used up, or none could help. `continues`: the attempt that a person's resume grants inherits the
   * steps.
   */
  { kind: is.literal("help"), continues: is.optional(is.literal(true)), sameAs: is.optional(is.whole) },
  /** A retry cannot fix the error. */
  { kind: is.literal("stop") },
);
export type AfterFailure = is.TypeOf<typeof afterFailure>;

/** `started`: the seq of the attempt's first row, which identifies it; 0 if a reused result had none. */
export const ofAttempt = { started: is.whole, phase: is.name, persona: is.name } as const;
export type OfAttempt = is.FieldsOf<typeof ofAttempt>;

const maxDecisions = 100;

/** The message for decisions of another form. */
export const decisionsRule = `decisions must be a list of at most ${maxDecisions} { title: string, choice: string, reason: string, rejected?: string[] }`;

/** Undefined if the value is not a decision. `rejected` may be missing. */
export function parseDecision(given: Json | undefined): Decision | undefined {
  if (!isJsonObject(given)) return undefined;
  const { title, choice, reason, rejected = [] } = given;
  if (typeof title !== "string" || typeof choice !== "string" || typeof reason !== "string") return undefined;
  if (!Array.isArray(rejected) || !rejected.every((other) => typeof other === "string")) return undefined;
  return { title, choice, reason, rejected };
}

/** Undefined if one is invalid, which the persona can correct. */
export function parseDecisions(given: Json): readonly Decision[] | undefined {
  if (!Array.isArray(given) || given.length > maxDecisions) return undefined;
  const parsed = given.map(parseDecision);
  return parsed.every((decision) => decision !== undefined) ? parsed : undefined;
}

/** Only the valid ones: an invalid record must not prevent a session from being opened. */
export function recordedDecisions(recorded: unknown): readonly Decision[] {
  if (!Array.isArray(recorded)) return [];
  return recorded.flatMap((decision: Json) => parseDecision(decision) ?? []);
}
