import { CircuitOpen } from "../domain/errors.ts";
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
  const [first] = failures;
  // Who needs a person decides; a dependency that is down mends itself.
  if (failures.length > 0) throw failures.find((error) => !CircuitOpen.is(error)) ?? first;
}
