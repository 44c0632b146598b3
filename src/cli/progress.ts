import type { SessionEvent } from "../index.ts";
import { isQuiet, sentenceOf } from "../journal/facts.ts";
import type { PublicFact } from "../journal/public-fact.ts";
import { isRecorded } from "../journal/public-fact.ts";
import { duration, plain } from "./terminal/format.ts";

/** One line for an event; undefined for events that only programs read. */
export function progressLine(event: SessionEvent): string | undefined {
  if (!isRecorded(event))
    return event.kind === "log" ? plain(`  ${event.persona}: ${event.message}`) : undefined;
  // A step that a fork copied belongs to no persona of this session.
  if (isQuiet(event) || (event.kind === "step" && event.persona === null)) return undefined;
  return plain(`${subjectOf(event)}${sentenceOf(event)}${timing(event)}`);
}

function subjectOf({ phase, persona, round, attempt }: PublicFact): string {
  if (persona === null) return phase === null ? "" : `${phase}: `;
  const isFirst = round === null || attempt === null || round + attempt <= 2;
  return isFirst ? `  ${persona}: ` : `  ${persona} (round ${round}, attempt ${attempt}): `;
}

/** The length of the wait that the fact announces. */
function timing(fact: PublicFact): string {
  const end =
    "notBefore" in fact
      ? fact.notBefore
      : "until" in fact && fact.kind !== "session.directed"
        ? fact.until
        : null;
  return end === null ? "" : ` (for ${duration(Math.max(0, Date.parse(end) - Date.parse(fact.at)))})`;
}
