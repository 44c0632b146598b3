import type { CheckResult } from "../../domain/contract.ts";
import type { Failure } from "../../domain/failure.ts";
import type { AttemptSettings, Healed } from "../../domain/healing-action.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { type PutBack, putBackText } from "../../domain/put-back.ts";
import { isStuck, stuckText } from "../after-failure.ts";
import { exhaustedBy } from "../exhausted.ts";
import { checkResult } from "../judgment-values.ts";
import * as is from "../schema.ts";
import {
  type CardHold,
  cardLimits,
  cut,
  type SessionCard,
  withoutCalls,
  withoutExhausted,
  withoutHold,
} from "../session-card.ts";
import { attemptOf, personaOf } from "../session-state.ts";
import { inheritSteps } from "../step-selection.ts";
import { changeAttempt, endingAttempt, withoutRunning, withPersona } from "../update.ts";
import {
  type AfterFailure,
  afterFailure,
  attemptSettings,
  healed as healedBy,
  type OfAttempt,
  ofAttempt,
  putBack as putBackValue,
  type RecordedFailure,
  recordedFailure,
} from "../values.ts";
import { always, event } from "./define.ts";

export const failed = event({
  row: is.object({
    failure: recordedFailure,
    /** The seq of the step whose failure ended the attempt. An attempt that continues repeats this step. */
    failedStep: is.optional(is.positive),
    /** The files it left, for the attempt that continues from them. */
    tree: is.optional(is.sha256),
    checks: is.optional(is.list(checkResult)),
    /** Every healing action that was tried. */
    healing: is.optional(is.list(healedBy)),
    /** Changes to protected files, which are not part of `tree`. */
    putBack: is.optional(putBackValue),
    /** The settings of the next attempt. */
    settings: is.optional(attemptSettings),
    /** The recorded decision: another attempt, another round, or help from a person. */
    next: afterFailure,
    ...ofAttempt,
  }),
  card: (card, entry) => card && cardAfterFailure(card, entry, entry.checks),
  reduce(state, entry, { seq, at }) {
    const { persona, attempt, running } = endingAttempt(state, entry);
    const continues = "continues" in entry.next && entry.next.continues;
    const left = entry.tree ?? attempt.tree;
    // A continued attempt rebuilds its files from the steps. A new round starts on the clean tree of the phase with
    // the team's settings, because healing that did not help ends with its round.
    const goesOn = continues || entry.next.kind === "attempt";
    const tree = continues ? attempt.tree : goesOn ? left : attempt.base;
    const { settings: before, ...rest } = persona.beginning ?? {};
    // After a person fixed the cause (usually a key), the team's own settings are tried first again.
    const isRefused = entry.next.kind === "help" && !entry.failure.recoverable;
    const settings = goesOn && !isRefused ? (entry.settings ?? before) : undefined;
    return withPersona(withoutRunning(state, entry), entry, {
      attempts: changeAttempt(persona, entry.started, {
        status: "failed",
        endedAt: at,
        endedSeq: seq,
        failure: entry.failure,
        next: entry.next,
        checks: entry.checks ?? [],
        healing: entry.healing ?? [],
        putBack: entry.putBack,
        tree: left,
      }),
      ...(continues
        ? { inheritance: inheritSteps(running.replays, seq, entry.failedStep) }
        : // Its answers led to nothing, so the next attempt asks again.
          { leftover: [] }),
      beginning: { ...rest, tree, ...(settings !== undefined && { settings }) },
    });
  },
  fact: failedFact,
  logged: (fact) => `attempt failed: ${failedKind(fact)}`,
  sentence: (fact) => `attempt failed: ${failedText(fact)}`,
  mark: () => "bad",
  isTransition: true,
  isFailure: always,
  endsAttempt: true,
});

/** Its work passed alone but does not fit the work of others. It gets another, counted attempt. */
export const reopened = event({
  row: is.object({
    failure: recordedFailure,
    next: afterFailure,
    /** The group in which this was found. */
    group: is.whole,
    /** The merged files of all, including its own. Its next work is merged into these. */
    merged: is.optional(is.sha256),
    /** The part of them that it sees and works on. */
    tree: is.optional(is.sha256),
    /** The same without its own work: the base for the changes of all its attempts. */
    base: is.optional(is.sha256),
    /**
     * Group members, in order, whose work is not in `merged` yet. It is merged together with this persona's next
     * work.
     */
    unmerged: is.optional(is.list(is.name)),
    ...ofAttempt,
  }),
  card: (card, entry) => card && cardAfterFailure(card, entry),
  reduce(state, entry, { seq }) {
    const persona = personaOf(state, entry.phase, entry.persona);
    const attempt = attemptOf(state, entry);
    const { group, merged, tree, base, unmerged = [], failure, next } = entry;
    return withPersona(state, entry, {
      attempts: changeAttempt(persona, entry.started, { status: "failed", failure, next }),
      result: undefined,
      reused: false,
      reopened: { at: seq, group, merged, tree, unmerged },
      beginning: { base, tree, ...(attempt === undefined && { reasons: [failure] }) },
    });
  },
  fact: failedFact,
  logged: (fact) => `attempt reopened: ${failedKind(fact)}`,
  sentence: (fact) => `attempt reopened: ${failedText(fact)}`,
  mark: () => "bad",
  isTransition: true,
});

function cardAfterFailure(
  card: SessionCard,
  entry: OfAttempt & { readonly failure: RecordedFailure; readonly next: AfterFailure },
  checks: readonly CheckResult[] = [],
): Partial<SessionCard> {
  const { phase, persona, failure, next } = entry;
  const check = checks.find(({ must, status }) => must && status !== "passed")?.name ?? null;
  const lastFailure = { phase, persona, check: check === null ? null : cut(check, cardLimits.textLength) };
  const calls = withoutCalls(card, entry);
  const ended = exhaustedBy(next.kind);
  const others = withoutExhausted(card, entry);
  const exhausted =
    ended === null ? others : [...others, { phase, persona, next: ended }].slice(-cardLimits.exhausted);
  if (!("wait" in next)) return { lastFailure, calls, exhausted, held: withoutHold(card, entry) };
  const hold: CardHold = {
    phase,
    persona,
    until: next.wait.notBefore,
    why: { kind: "retry", because: cut(failure.message, cardLimits.textLength) },
  };
  return { lastFailure, calls, exhausted, held: [...withoutHold(card, entry), hold].slice(-cardLimits.held) };
}

export interface FailedFact {
  readonly failure: Failure;
  readonly next: AfterFailure["kind"];
  /** The previous attempt failed equally and left the same files, so its round ended. */
  readonly stuck: boolean;
  /** The earliest start of the next attempt, and its longest wait whatever the clock does. */
  readonly notBefore: string | null;
  readonly waitMs: number | null;
  /** Every healing action that was tried, and how it changes the next attempt. */
  readonly healing: readonly Healed[];
  readonly settings: AttemptSettings | null;
  /** Changes to protected files. */
  readonly putBack: PutBack | null;
}

function failedFact({
  failure,
  next,
  healing = [],
  settings,
  putBack,
}: {
  readonly failure: RecordedFailure;
  readonly next: AfterFailure;
  readonly healing?: readonly Healed[];
  readonly settings?: AttemptSettings;
  readonly putBack?: PutBack;
}): FailedFact {
  const { error: _, ...known } = failure;
  return {
    failure: known,
    next: next.kind,
    stuck: isStuck(next),
    notBefore: "wait" in next ? isoTime(next.wait.notBefore) : null,
    waitMs: "wait" in next ? next.wait.waitMs : null,
    healing,
    settings: settings ?? null,
    putBack: putBack ?? null,
  };
}

const afterwards: Readonly<Record<AfterFailure["kind"], string>> = {
  attempt: "",
  round: ", a new round follows",
  help: ", no attempts left",
  stop: ", stops",
};

const failedKind = ({ failure, next }: FailedFact): string => `${failure.category}${afterwards[next]}`;

const failedText = ({ failure, next, stuck, putBack }: FailedFact): string =>
  `${failure.message}${stuck ? ` (${stuckText})` : ""}${afterwards[next]}${putBackClause(putBack)}`;

/** " (put back: test/a.test.js)"; empty if nothing was put back. */
export const putBackClause = (putBack: PutBack | null): string =>
  putBack === null ? "" : ` (put back: ${putBackText(putBack)})`;
