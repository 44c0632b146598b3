import { InputInvalid } from "./errors.ts";
import { isName, nameRule } from "./names.ts";

/** The default queue. */
export const defaultQueue = "default";

/** Higher priorities are taken first. Default: 0. */
export const priorities = { least: -1_000, most: 1_000 } as const;

export const isPriority = (value: unknown): value is number =>
  Number.isSafeInteger(value) &&
  (value as number) >= priorities.least &&
  (value as number) <= priorities.most;

/** The queue of a new session, and its priority there. */
export interface QueuePlace {
  readonly queue?: string | undefined;
  readonly priority?: number | undefined;
}

export function checkQueuePlace({ queue, priority }: QueuePlace): void {
  if (queue !== undefined && !(typeof queue === "string" && isName(queue)))
    throw new InputInvalid(`${JSON.stringify(queue)} is not the name of a queue.`, { advice: nameRule });
  if (priority !== undefined && !isPriority(priority))
    throw new InputInvalid(
      `The priority is ${JSON.stringify(priority)}; it must be a whole number from ${priorities.least} to ${priorities.most}.`,
      { advice: "Sessions with a higher priority are taken first. The default is 0." },
    );
}
