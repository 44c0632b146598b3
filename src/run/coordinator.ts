import { toErrorJson } from "../domain/error-json.ts";
import { BudgetExceeded, CircuitOpen, HelpNeeded, MaestroError } from "../domain/errors.ts";
import type { PersonaWork } from "./attempt-run.ts";
import type { Drive } from "./drive.ts";
import { runWithSafety } from "./safety-retry.ts";

/** Undefined when nothing is left to do for the persona. */
export type Member = () => Promise<PersonaWork | undefined>;

/** Runs personas together. One that fails does not take its siblings down: their finished work stays finished. */
export async function runTogether(drive: Drive, members: readonly Member[], limit: number): Promise<void> {
  const failures: unknown[] = [];
  const queue = members.values();
  const worker = async (): Promise<void> => {
    for (const work of queue) {
      try {
        const given = await work();
        if (given !== undefined) await runWithSafety(drive, given);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, members.length) }, worker));
  if (failures.length > 0) throw whatDecides(failures);
}

/**
 * Not the first failure decides: one that ends the session or the process outranks a need for help, and that outranks a
 * lack of money or time. The error names every persona that needs help.
 */
function whatDecides(failures: readonly unknown[]): unknown {
  const [worst] = failures.toSorted((a, b) => rankOf(a) - rankOf(b));
  return HelpNeeded.is(worst) ? allNeedHelp(failures.filter((error) => HelpNeeded.is(error))) : worst;
}

/** One error for all personas that need help; each gets a ticket of its own. */
function allNeedHelp(errors: readonly HelpNeeded[]): HelpNeeded | undefined {
  const [first, ...more] = errors;
  if (first === undefined || more.length === 0) return first;
  return new HelpNeeded(
    `${errors.length} personas need help. ${errors.map(({ message }) => message).join(" ")}`,
    {
      // The count first: a very long list of needs is cut.
      details: { personas: errors.length, needs: errors.map(toErrorJson) },
      advice: first.actions,
    },
  );
}

function rankOf(error: unknown): number {
  if (CircuitOpen.is(error)) return 4;
  if (BudgetExceeded.is(error)) return 3;
  if (HelpNeeded.is(error)) return 2;
  return MaestroError.is(error) && error.next === "fail" ? 1 : 0;
}
