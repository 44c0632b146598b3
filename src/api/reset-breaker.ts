import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Store } from "../store/store.ts";

/** Closes the breaker and makes the sessions that wait for it due. */
export async function resetBreaker(
  dependency: string,
  { breakers, wakeups }: Pick<Store, "breakers" | "wakeups">,
): Promise<void> {
  if (await breakers.reset(dependency)) return wakeups.tell("due");
  const known = (await breakers.list()).map((breaker) => breaker.dependency);
  throw new InputInvalid(`There is no breaker "${dependency}".${didYouMean(dependency, known)}`, {
    advice: advise("List the breakers", "breakers"),
  });
}
