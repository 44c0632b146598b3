import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, LeaseHeld, SessionConflict } from "../domain/errors.ts";
import { waitingIn } from "../journal/effect-view.ts";
import { callAdvice } from "../journal/explain-calls.ts";
import type { Signal } from "../journal/journal.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalStatuses } from "../journal/standing.ts";
import type { PhaseView } from "../journal/view.ts";
import { unansweredIn } from "../journal/waiting-call.ts";
import type { TeamEngine } from "../run/engine.ts";
import { toChange } from "../run/spending.ts";
import type { SessionRecord } from "../store/store.ts";
import type { BudgetOptions } from "./options.ts";

/** Refuses a signal that makes no sense in this status or that no driver could apply. */
export async function refuseSignal(
  { id, status }: SessionRecord,
  { action }: Signal,
  engine: Pick<TeamEngine, "refuseOlderDatabase">,
): Promise<void> {
  const details = { session: id, status };
  // An effect may have happened regardless of how its session ended.
  if (finalStatuses.includes(status) && action !== "budget" && action !== "settle")
    throw new SessionConflict(
      `Session ${id} is ${status}; there is nothing to ${action.replace("-call", "")}.`,
      {
        details,
        advice: [
          advise("See how it ended", "show", id),
          advise("To change the result, fork it", "fork", id, "--at", "<phase>"),
        ],
      },
    );
  if (action === "pause" && (status === "parked" || status === "paused"))
    throw new SessionConflict(`Session ${id} is already ${status}; there is nothing to pause.`, {
      details,
      advice: advise("See why", "show", id),
    });
  await engine.refuseOlderDatabase(id);
}

/** The limit that a person changes. */
export function budgetChangeOf({ persona, phase, tokens, usd }: BudgetOptions) {
  const budget = toChange({ tokens, usd });
  if (budget.tokens === undefined && budget.microUsd === undefined)
    throw new InputInvalid("A budget change needs a limit.", { advice: "Set tokens, dollars or both." });
  const level = persona !== undefined ? "persona" : phase !== undefined ? "phase" : "session";
  return { level, name: persona ?? phase, budget } as const;
}

/** A limit with an unknown name would have no effect. */
export function refuseUnknownName(level: string, name: string, phases: readonly PhaseView[]): void {
  const known =
    level === "phase"
      ? phases.map((phase) => phase.name)
      : phases.flatMap(({ personas }) => personas.map((persona) => persona.name));
  if (known.includes(name)) return;
  throw new InputInvalid(`There is no ${level} "${name}" in this session.${didYouMean(name, known)}`);
}

/** Adds the reviewed phase to an approval or rejection: one signal is about one phase. */
export function withReviewedPhase<S extends Extract<Signal, { readonly action: "approve" | "reject" }>>(
  signal: S,
  state: SessionState,
): S & { readonly phase: string } {
  return { ...signal, phase: reviewedPhase(state, signal.action, signal.phase) };
}

/** The phase under review. With more than one, a guess could approve work that was not reviewed. */
function reviewedPhase(state: SessionState, action: "approve" | "reject", named: string | undefined): string {
  const { id, phases } = state;
  // A phase without a checkpoint is not finished by its driver yet.
  const waiting = [...phases].flatMap(([name, { review, checkpoint }]) =>
    review === "awaiting" && checkpoint !== undefined ? [name] : [],
  );
  const [only, ...others] = waiting;
  const details = { session: id, waiting };
  if (only === undefined) refuseForCall(state, action, named);
  if (named !== undefined && waiting.includes(named)) return named;
  if (named !== undefined)
    throw new SessionConflict(`Phase ${named} is not waiting for review.${didYouMean(named, waiting)}`, {
      details,
      advice:
        waiting.length === 0
          ? advise("See why", "show", id)
          : `Phases waiting for review: ${waiting.join(", ")}.`,
    });
  if (only === undefined)
    throw new SessionConflict(`No phase of session ${id} is waiting for review.`, {
      details,
      advice: advise("See why", "show", id),
    });
  if (others.length === 0) return only;
  throw new SessionConflict(`More than one phase is waiting for review: ${waiting.join(", ")}.`, {
    details,
    advice: advise("Name one of them", action, id, "--phase", only),
  });
}

/** A person who sees "waiting for review" may mean a call or a question that waits. */
function refuseForCall(state: SessionState, action: "approve" | "reject", named: string | undefined): void {
  const { id, created } = state;
  const calls = unansweredIn(state);
  const [first, ...others] = calls;
  if (first === undefined) return;
  const what = `${first.asks === "question" ? "Question" : "Call"} ${first.seq} of ${first.persona}`;
  const more = others.length === 0 ? "waits" : `and ${others.length} more wait`;
  const phase = named === undefined ? "no phase" : `not phase ${named}`;
  throw new SessionConflict(`${what} ${more} for a person, ${phase}: there is no review to ${action}.`, {
    details: { session: id, waiting: calls.map(({ seq }) => seq) },
    advice: callAdvice({ id, key: created.key ?? null, waiting: waitingIn(state) }),
  });
}

/** Another process drives the session, and finds the signal in its inbox. */
export function ignoreHeld(error: unknown): undefined {
  if (LeaseHeld.is(error)) return undefined;
  throw error;
}
