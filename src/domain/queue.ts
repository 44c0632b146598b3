import { InputInvalid } from "./errors.ts";
import { isName, nameRule } from "./names.ts";

/** The queue of sessions that name none. */
export const defaultQueue = "default";

/** Higher ones are taken first; 0 unless given. */
export const priorities = { least: -1_000, most: 1_000 } as const;

export const isPriority = (value: unknown): value is number =>
  Number.isSafeInteger(value) &&
  (value as number) >= priorities.least &&
  (value as number) <= priorities.most;

/** Which queue a new session waits in, and how urgent it is there. */
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
