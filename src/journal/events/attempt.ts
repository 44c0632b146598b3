import type { CheckResult } from "../../domain/contract.ts";
import { recordedDecisions } from "../decision.ts";
import type { OfAttempt, RecordedRow } from "../journal.ts";
import { type CardHold, cardLimits, changeCardPhase, cut, type SessionCard } from "../session-card.ts";
import {
  type AttemptState,
  attemptOf,
  type PersonaState,
  personaOf,
  phaseOf,
  type RunningAttempt,
  type SessionState,
} from "../session-state.ts";
import { inheritSteps, keepSteps, leaveSteps, ownSteps } from "../step-selection.ts";
import { changeAttempt, withoutRunning, withPersona, withRunning } from "../update.ts";
import { defineEvents, type TransitionOf } from "./define.ts";

export const attemptEvents = defineEvents({
  "attempt.started": {
    card: (card, entry) =>
      card && {
        phases: changeCardPhase(card, entry.phase, { status: "running", worked: true }),
        held: withoutHold(card, entry),
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
        status: "running",
        endedAt: undefined,
        endedSeq: undefined,
        failure: undefined,
        next: undefined,
      };
      const inherited = entry.continues === undefined ? undefined : persona.inheritance;
      // Work for another input does not continue, but what it paid for is paid.
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
  },
  "attempt.completed": {
    card: (card, entry) =>
      card === undefined || card.held.length === 0 ? undefined : { held: withoutHold(card, entry) },
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
  },
  "attempt.failed": {
    card: (card, entry) => card && cardAfterFailure(card, entry, entry.checks),
    reduce(state, entry, { seq, at }) {
      const { persona, attempt, running } = endingAttempt(state, entry);
      const continues = "continues" in entry.next && entry.next.continues;
      const left = entry.tree ?? attempt.tree;
      // A continued attempt rebuilds its files from the steps. A new round starts on the clean tree of the phase, with
      // the settings its team wrote: healing that did not help ends with its round.
      const goesOn = continues || entry.next.kind === "attempt";
      const tree = continues ? attempt.tree : goesOn ? left : attempt.base;
      const { settings: before, ...rest } = persona.beginning ?? {};
      // After a person mended the cause (a key above all), the team's own settings are tried first again.
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
          tree: left,
        }),
        ...(continues
          ? { inheritance: inheritSteps(running.replays, seq, entry.failedStep) }
          : // Its answers led to nothing, so the next attempt asks anew.
            { leftover: [] }),
        beginning: { ...rest, tree, ...(settings !== undefined && { settings }) },
      });
    },
  },
  "attempt.reopened": {
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
  },
  "attempt.diverged": {
    reduce(state, entry, { seq }) {
      const running = state.running.get(entry.started);
      if (running === undefined) return state;
      return withRunning(state, { ...running, replays: keepSteps(running.replays, seq, entry.kept) });
    },
  },
  "dependency.waiting": {
    card(card, entry) {
      const { dependency, phase, persona, until } = entry;
      const hold: CardHold = { phase, persona, until, why: { kind: "dependency", dependency } };
      return card && { held: [...withoutHold(card, entry), hold].slice(-cardLimits.held) };
    },
    reduce: (state) => state,
  },
});

/** Ends the attempt under way, if there is one: it will not continue. */
export function giveUp(
  state: SessionState,
  of: { readonly phase: string; readonly persona: string },
  { seq, at }: Pick<RecordedRow, "seq" | "at">,
): {
  readonly state: SessionState;
  readonly interrupted: RunningAttempt | undefined;
  readonly given: RunningAttempt["replays"] | undefined;
} {
  const persona = personaOf(state, of.phase, of.persona);
  const last = persona.attempts.at(-1);
  if (last?.status !== "running") return { state, interrupted: undefined, given: undefined };
  const interrupted = state.running.get(last.started);
  const attempts = changeAttempt(persona, last.started, { status: "failed", endedAt: at, endedSeq: seq });
  return {
    state: withPersona(withoutRunning(state, last), of, { attempts }),
    interrupted,
    given: interrupted?.replays,
  };
}

/** A person's resume grants one new set of rounds. Recoveries grant none. */
export function grantRounds(state: SessionState): SessionState {
  let granted = state;
  for (const [phase, { personas }] of state.phases) {
    for (const [persona, { attempts }] of personas) {
      const last = attempts.at(-1);
      if (last?.status === "failed")
        granted = withPersona(granted, { phase, persona }, { roundsUsedBefore: last.round });
    }
  }
  return granted;
}

function endingAttempt(
  state: SessionState,
  of: OfAttempt,
): { readonly persona: PersonaState; readonly attempt: AttemptState; readonly running: RunningAttempt } {
  const running = state.running.get(of.started);
  const attempt = attemptOf(state, of);
  if (running === undefined || attempt === undefined)
    throw new Error(`the journal of session ${state.id} ends attempt ${of.started}, which is not running`);
  return { persona: personaOf(state, of.phase, of.persona), attempt, running };
}

function cardAfterFailure(
  card: SessionCard,
  entry: TransitionOf<"attempt.failed" | "attempt.reopened">,
  checks: readonly CheckResult[] = [],
): Partial<SessionCard> {
  const { phase, persona, failure, next } = entry;
  const check = checks.find(({ must, status }) => must && status !== "passed")?.name ?? null;
  const lastFailure = { phase, persona, check: check === null ? null : cut(check, cardLimits.textLength) };
  if (!("wait" in next)) return { lastFailure, held: withoutHold(card, entry) };
  const hold: CardHold = {
    phase,
    persona,
    until: next.wait.notBefore,
    why: { kind: "retry", because: cut(failure.message, cardLimits.textLength) },
  };
  return { lastFailure, held: [...withoutHold(card, entry), hold].slice(-cardLimits.held) };
}

function withoutHold(
  { held }: SessionCard,
  { phase, persona }: { readonly phase: string; readonly persona: string },
): readonly CardHold[] {
  return held.filter((hold) => hold.phase !== phase || hold.persona !== persona);
}
