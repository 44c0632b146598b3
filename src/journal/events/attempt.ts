import { isoTime } from "../../domain/iso-time.ts";
import { checkResult } from "../judgment-values.ts";
import * as is from "../schema.ts";
import {
  type CardHold,
  cardLimits,
  changeCardPhase,
  withoutCalls,
  withoutExhausted,
  withoutHold,
} from "../session-card.ts";
import { type AttemptState, personaOf, phaseOf } from "../session-state.ts";
import { keepSteps, leaveSteps, ownSteps } from "../step-selection.ts";
import { changeAttempt, endingAttempt, giveUp, withoutRunning, withPersona, withRunning } from "../update.ts";
import {
  attemptSettings,
  healed as healedBy,
  ofAttempt,
  personaResult,
  putBack as putBackValue,
  recordedDecisions,
} from "../values.ts";
import { event, shorten } from "./define.ts";
import { failed, putBackClause, reopened } from "./failed.ts";

export const attemptEvents = {
  "attempt.started": event({
    row: is.object({
      phase: is.name,
      persona: is.name,
      round: is.positive,
      attempt: is.positive,
      /** Fingerprint of everything the persona reads. Part of the fingerprint of each of its steps. */
      input: is.label,
      /** The attempt whose recorded steps it inherits, after an outage ended that attempt. */
      continues: is.optional(is.seq),
      /** The phase's files that it sees: the base for merging its changes. */
      base: is.optional(is.sha256),
      /** The files that it begins with if they differ from `base`: those of the previous attempt. */
      tree: is.optional(is.sha256),
      /** How healing changed its settings. */
      settings: is.optional(attemptSettings),
    }),
    card: (card, entry) =>
      card && {
        phases: changeCardPhase(card, entry.phase, { status: "running", worked: true }),
        held: withoutHold(card, entry),
        calls: withoutCalls(card, entry),
        exhausted: withoutExhausted(card, entry),
      },
    reduce(before, entry, { seq, at }) {
      const { given, state, interrupted } = giveUp(before, entry, { seq, at });
      const persona = personaOf(state, entry.phase, entry.persona);
      const { round, attempt, input, base, phase } = entry;
      const begun: AttemptState = {
        started: seq,
        phase,
        persona: entry.persona,
        round,
        attempt,
        input,
        startedAt: at,
        continues: entry.continues,
        revision: phaseOf(state, phase).revision,
        base,
        tree: entry.tree ?? base,
        settings: entry.settings ?? {},
        checks: [],
        healing: [],
        putBack: undefined,
        status: "running",
        endedAt: undefined,
        endedSeq: undefined,
        failure: undefined,
        next: undefined,
      };
      const inherited = entry.continues === undefined ? undefined : persona.inheritance;
      // Work for another input is not continued, but its paid calls are kept.
      const left = inherited === undefined ? (given ?? persona.inheritance) : undefined;
      const leftover =
        left === undefined
          ? persona.leftover
          : [...persona.leftover, ...leaveSteps(left, seq, { functions: interrupted?.isClean === true })];
      const isClean = persona.reopened === undefined && persona.beginning === undefined;
      const replays = [...(inherited ?? []), ownSteps(seq)];
      return withRunning(
        withPersona(state, entry, {
          attempts: [...persona.attempts, begun],
          leftover,
          inheritance: undefined,
        }),
        { started: seq, phase, persona: entry.persona, replays, isClean, hasProgressed: false },
      );
    },
    fact: ({ continues }) => ({ continues: continues !== undefined }),
    logged: "sentence",
    sentence: ({ continues }) =>
      continues ? "attempt started, continues the one before" : "attempt started",
    isTransition: true,
  }),
  "attempt.completed": event({
    row: is.object({
      result: personaResult,
      tree: is.optional(is.sha256),
      checks: is.optional(is.list(checkResult)),
      /** The healer whose action made the contract pass. */
      healed: is.optional(healedBy),
      /** Every healing action of the attempt. */
      healing: is.optional(is.list(healedBy)),
      /** Changes to protected files, which are not part of `tree`. */
      putBack: is.optional(putBackValue),
      ...ofAttempt,
    }),
    card: (card, entry) =>
      card === undefined || card.held.length + card.calls.length === 0
        ? undefined
        : { held: withoutHold(card, entry), calls: withoutCalls(card, entry) },
    reduce(state, entry, { seq, at }) {
      const { persona, attempt } = endingAttempt(state, entry);
      const tree = entry.tree ?? attempt.tree;
      const checks = entry.checks ?? [];
      const decided = recordedDecisions(entry.result.decisions).map((decision) => ({
        ...decision,
        phase: entry.phase,
        persona: entry.persona,
        at,
      }));
      const ended = withPersona(withoutRunning(state, entry), entry, {
        attempts: changeAttempt(persona, entry.started, {
          status: "completed",
          endedAt: at,
          endedSeq: seq,
          tree,
          checks,
          healing: entry.healing ?? (entry.healed === undefined ? [] : [entry.healed]),
          putBack: entry.putBack,
        }),
        result: entry.result,
        base: attempt.base,
        tree,
        checks,
        input: attempt.input,
        beginning: undefined,
        leftover: [],
      });
      return {
        ...ended,
        recoveries: 0,
        decisions: decided.length === 0 ? state.decisions : [...state.decisions, ...decided],
      };
    },
    fact: ({ result, healed, putBack }, { at, startedAt }) => ({
      tookMs: startedAt === undefined ? null : at - startedAt,
      summary: shorten(result.summary),
      /** The healing action that made the contract pass. */
      healed: healed?.action ?? null,
      putBack: putBack ?? null,
    }),
    logged: () => "attempt completed",
    sentence: ({ summary, healed, putBack }) =>
      `attempt completed: ${summary}${healed === null ? "" : ` (healed: ${healed})`}${putBackClause(putBack)}`,
    mark: () => "good",
    isTransition: true,
    endsAttempt: true,
  }),
  "attempt.failed": failed,
  "attempt.reopened": reopened,
  /** The input of a recorded step has changed: steps outside `kept` (ranges of seq) are not reused. */
  "attempt.diverged": event({
    row: is.object({
      step: is.text,
      recorded: is.text,
      now: is.text,
      kept: is.list(is.pair(is.whole)),
      ...ofAttempt,
    }),
    reduce(state, entry, { seq }) {
      const running = state.running.get(entry.started);
      if (running === undefined) return state;
      return withRunning(state, { ...running, replays: keepSteps(running.replays, seq, entry.kept) });
    },
    fact: ({ step, recorded, now }) => ({ step, recorded, now }),
    logged: () => "a step differs from its record; it and the steps after it run again",
    sentence: ({ step }) => `step "${step}" differs from its record; it and the steps after it run again`,
  }),
  /** The budgets left less output than a call asked for, and its answer was cut there. The call is repeated. */
  "call.cut": event({
    row: is.object({ model: is.label, fingerprint: is.label, output: is.positive, ...ofAttempt }),
    reduce(state, { started, fingerprint, output }) {
      const running = state.running.get(started);
      if (running === undefined) return state;
      return withRunning(state, { ...running, cuts: new Map(running.cuts).set(fingerprint, output) });
    },
    fact: ({ model, output }) => ({ model, output }),
    logged: "sentence",
    sentence: ({ model, output }) =>
      `answer of ${model} cut at ${output} tokens, all that the budget left; the call is made again with more room`,
    mark: () => "waits",
  }),
  /** A dependency's breaker is open, or its provider's minute is full. The attempt waits and does not count as used. */
  "dependency.waiting": event({
    row: is.object({
      dependency: is.label,
      until: is.time,
      /** The exhausted limit of the provider's minute. Missing: the breaker is open. */
      limit: is.optional(is.literal("requests", "tokens")),
      ...ofAttempt,
    }),
    card(card, entry) {
      const { dependency, phase, persona, until, limit } = entry;
      const why = { kind: "dependency", dependency, ...(limit !== undefined && { limit }) } as const;
      const hold: CardHold = { phase, persona, until, why };
      return card && { held: [...withoutHold(card, entry), hold].slice(-cardLimits.held) };
    },
    reduce(state, { started, limit }, { at }) {
      const running = state.running.get(started);
      // Only an outage limits how long an attempt waits.
      if (running === undefined || running.waitsSince !== undefined || limit !== undefined) return state;
      return withRunning(state, { ...running, waitsSince: at });
    },
    fact: ({ dependency, until, limit = null }) => ({ dependency, until: isoTime(until), limit }),
    logged: "sentence",
    sentence: ({ dependency, limit }) =>
      limit === null
        ? `waits for ${dependency}`
        : `waits for ${dependency}: its limit of ${limit} a minute is reached`,
    mark: () => "waits",
  }),
};
