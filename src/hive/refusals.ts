import { SessionConflict, TeamInvalid } from "../domain/errors.ts";
import { finalStatuses, type Message } from "../domain/journal.ts";
import type { SessionRecord } from "../state/store.ts";
import type { Team } from "../team/define.ts";
import { integrationProblems } from "../team/definition/integration.ts";

/** Contracts that do not fit together are said before anything is paid; where nobody could succeed nothing starts. */
export function checkIntegration({ name, definition }: Team, notice: (text: string) => void): void {
  const problems = integrationProblems(definition);
  const blocking = problems.filter(({ severity }) => severity === "blocking");
  if (blocking.length > 0) {
    throw new TeamInvalid(
      `Team "${name}" cannot succeed: ${blocking.map(({ message }) => message).join(" ")}`,
      {
        details: { team: name, problems: blocking },
        advice: "Mend the contracts or the policies named.",
      },
    );
  }
  for (const { message } of problems) notice(message);
}

/** What cannot be meant in this status is refused before it is said. */
export function refuseWord({ id, status, reason }: SessionRecord, { say }: Message): void {
  const details = { session: id, status };
  if (finalStatuses.includes(status) && say !== "budget")
    throw new SessionConflict(`Session ${id} is ${status}; there is nothing to ${say}.`, { details });
  const advice = `See why with: maestro show ${id}`;
  if (say === "pause" && (status === "parked" || status === "paused"))
    throw new SessionConflict(`Session ${id} is ${status} already; there is nothing to pause.`, {
      details,
      advice,
    });
  if ((say === "approve" || say === "reject") && reason !== "review")
    throw new SessionConflict(`Session ${id} is ${status}; no phase of it waits for review.`, {
      details,
      advice,
    });
}
