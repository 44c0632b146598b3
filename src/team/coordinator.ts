import { toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded, CircuitOpen, HelpNeeded, MaestroError } from "../domain/errors.ts";
import type { PersonaWork } from "../execution/attempt-run.ts";
import type { ExecutorParts } from "../execution/persona-executor.ts";
import { runWithSafety } from "../execution/safety-retry.ts";

export interface Member {
  readonly parts: ExecutorParts;
  /** Undefined when there is nothing to do for it any more. */
  readonly work: () => Promise<PersonaWork | undefined>;
}

/** Runs personas together. One that fails does not take its siblings down: what they finish stays finished. */
export async function runTogether(members: readonly Member[], limit: number): Promise<void> {
  const failures: unknown[] = [];
  const queue = members.values();
  const worker = async (): Promise<void> => {
    for (const { parts, work } of queue) {
      try {
        const given = await work();
        if (given !== undefined) await runWithSafety(parts, given);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, members.length) }, worker));
  if (failures.length > 0) throw whatDecides(failures);
}

/**
 * Not who was first: what ends the session, or the process, comes before who needs a person, and that before what more
 * money or time would mend. Everybody who needs help is in the error, or nobody would hear of the others.
 */
function whatDecides(failures: readonly unknown[]): unknown {
  const [worst] = failures.toSorted((a, b) => rankOf(a) - rankOf(b));
  return HelpNeeded.is(worst) ? allNeedHelp(failures.filter((error) => HelpNeeded.is(error))) : worst;
}

/** One error for all who need a person; each of them gets a ticket of its own. */
function allNeedHelp(errors: readonly HelpNeeded[]): HelpNeeded | undefined {
  const [first, ...more] = errors;
  if (first === undefined || more.length === 0) return first;
  return new HelpNeeded(
    `${errors.length} personas need help. ${errors.map(({ message }) => message).join(" ")}`,
    {
      // The count first: a very long list of needs is cut.
      details: { personas: errors.length, needs: errors.map(toErrorJson) },
      advice: first.advice,
    },
  );
}

function rankOf(error: unknown): number {
  if (CircuitOpen.is(error)) return 4;
  if (BudgetExceeded.is(error)) return 3;
  if (HelpNeeded.is(error)) return 2;
  return MaestroError.is(error) && error.next === "fail" ? 1 : 0;
}
