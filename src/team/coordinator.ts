import { CircuitOpen } from "../domain/errors.ts";
import type { ExecutorParts, PersonaWork } from "../execution/persona-executor.ts";
import { runWithSafety } from "../execution/safety-retry.ts";

/** How many personas of a phase work at once. */
const parallelLimit = 4;

/** Runs the personas of a phase together. One that fails does not take its siblings down: what they finish stays finished. */
export async function runTogether(
  works: readonly { readonly parts: ExecutorParts; readonly work: PersonaWork }[],
): Promise<void> {
  const failures: unknown[] = [];
  const queue = works.values();
  const worker = async (): Promise<void> => {
    for (const { parts, work } of queue) {
      try {
        await runWithSafety(parts, work);
      } catch (error) {
        failures.push(error);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(parallelLimit, works.length) }, worker));
  const [first] = failures;
  // Who needs a person decides; a dependency that is down mends itself.
  if (failures.length > 0) throw failures.find((error) => !CircuitOpen.is(error)) ?? first;
}
