import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import { newSessionId } from "../domain/ids.ts";
import type { Direction } from "../domain/journal.ts";
import { emptyState, phaseOf } from "../domain/session-state.ts";
import type { Team } from "../team/define.ts";
import { selectPhases } from "../team/selection.ts";
import type { StartOptions } from "./options.ts";

const startOptions: Readonly<Record<keyof StartOptions, true>> = {
  brief: true,
  key: true,
  model: true,
  teamFile: true,
  only: true,
  from: true,
  until: true,
  pauseAfter: true,
  budget: true,
  beforeDrive: true,
  given: true,
};

/** For callers that are not type-checked: with a misspelled key, each call would make and pay another session. */
export function refuseUnknownOptions(options: unknown): void {
  if (typeof options !== "object" || options === null)
    throw new InputInvalid("There is no brief.", { advice: 'Say what to do: { brief: "..." }' });
  for (const name of Object.keys(options)) {
    if (Object.hasOwn(startOptions, name)) continue;
    const known = Object.keys(startOptions);
    throw new InputInvalid(`A session has no option "${name}".${didYouMean(name, known)}`, {
      advice: `Use one of: ${known.join(", ")}`,
      details: { option: name },
    });
  }
}

/** A direction that cannot be gone is refused before there is a session that somebody could take up. */
export function refuseImpossibleStart(
  { definition }: Team,
  direction: Direction,
  given: readonly string[],
): void {
  const state = emptyState(newSessionId());
  for (const name of given) phaseOf(state, name).status = "completed";
  selectPhases(definition, state, direction);
}
