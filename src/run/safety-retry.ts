import { fromErrorJson } from "../domain/error-json.ts";
import { HelpNeeded, UnrecoverableError } from "../domain/errors.ts";
import type { PersonaResult } from "../journal/journal.ts";
import { type AttemptState, personaOf } from "../journal/session-state.ts";
import type { PersonaDrive } from "./drive.ts";
import { PersonaExecutor } from "./persona-executor.ts";
import type { PersonaWork } from "./persona-work.ts";

/** Level 2: rounds of attempts. Only an exhausted round is followed by another. After the last, a person is needed. */
export async function runWithSafety(drive: PersonaDrive, work: PersonaWork): Promise<PersonaResult> {
  const personaNow = () => personaOf(drive.journal.state, work.phase, work.persona);
  const { result } = personaNow();
  if (result !== undefined) return result;
  const executor = new PersonaExecutor(drive, work);
  for (;;) {
    const persona = personaNow();
    const last = persona.attempts.at(-1);
    const granted = last !== undefined && last.round <= persona.roundsUsedBefore;
    if (!granted && last?.failure !== undefined) {
      if (last.next?.kind === "help") throw helpNeeded(work, persona.attempts);
      // Recorded as not retryable. A crash right after that must not cause another attempt.
      if (last.next?.kind === "stop")
        throw stopped(work, persona.attempts, fromErrorJson(last.failure.error));
    }
    const startsRound = last === undefined || granted || last.next?.kind === "round";
    try {
      return await executor.execute(startsRound ? (last?.round ?? 0) + 1 : last.round);
    } catch (error) {
      if (!UnrecoverableError.is(error)) throw stopped(work, personaNow().attempts, error);
    }
  }
}

/** A persona that asks for help gives its own reason. Its name and phase are added here. */
function stopped(work: PersonaWork, attempts: readonly AttemptState[], error: unknown): unknown {
  if (!HelpNeeded.is(error)) return error;
  const { details } = helpNeeded(work, attempts);
  // Maestro sets the members that the ticket is made of. The other details stay.
  const { needs: _, suggestedActions: actions, ...own } = error.details ?? {};
  // Only its own suggestions, none derived from its message.
  const suggestedActions = Array.isArray(actions)
    ? actions.filter((action) => typeof action === "string")
    : [];
  return new HelpNeeded(error.message, {
    details: { ...own, ...details, suggestedActions, message: error.message },
    advice: error.actions,
    cause: error.cause,
  });
}

/** Has all that a person needs: the failures, their number, and actions to try. */
function helpNeeded({ phase, persona }: PersonaWork, attempts: readonly AttemptState[]): HelpNeeded {
  const failures = attempts.flatMap(({ round, attempt, failure }) =>
    failure === undefined ? [] : [{ round, attempt, category: failure.category, message: failure.message }],
  );
  const last = attempts.at(-1)?.failure;
  return new HelpNeeded(
    `${persona} needs help in phase ${phase} after ${attempts.length} ${attempts.length === 1 ? "attempt" : "attempts"}. The last one failed: ${last?.message}`,
    {
      details: {
        phase,
        persona,
        attempts: attempts.length,
        category: last?.category ?? "UNKNOWN",
        message: last?.message ?? "",
        failures,
        suggestedActions: suggestedActions(attempts),
      },
      advice: "Read the failures, fix the cause, then resume the session: it gets a new set of rounds.",
    },
  );
}

function suggestedActions(attempts: readonly AttemptState[]): string[] {
  return [...new Set(attempts.flatMap(({ failure }) => failure?.suggestedFix ?? []))];
}
