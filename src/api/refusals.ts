import { advise } from "../domain/advice.ts";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import type { Message } from "../journal/message.ts";
import type { SessionState } from "../journal/session-state.ts";
import { finalStatuses } from "../journal/standing.ts";
import type { PhaseView } from "../run/session-view.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import { integrationProblems, refuseBlocking } from "../team/definition/integration.ts";

/** Contracts that do not fit together are said before anything is paid; where nobody could succeed nothing starts. */
export function checkIntegration({ definition }: Team, notice: (text: string) => void): void {
  refuseBlocking(definition);
  for (const { message } of integrationProblems(definition)) notice(message);
}

/** What cannot be meant in this status is refused before it is said. */
export function refuseWord({ id, status }: SessionRecord, { say }: Message): void {
  const details = { session: id, status };
  if (finalStatuses.includes(status) && say !== "budget")
    throw new SessionConflict(`Session ${id} is ${status}; there is nothing to ${say}.`, {
      details,
      advice: [
        advise("See how it ended", "show", id),
        advise("Run part of it again in a new session", "fork", id, "--at", "<phase>"),
      ],
    });
  if (say === "pause" && (status === "parked" || status === "paused"))
    throw new SessionConflict(`Session ${id} is ${status} already; there is nothing to pause.`, {
      details,
      advice: advise("See why", "show", id),
    });
}

/** A limit for somebody who is not there would limit nobody. */
export function refuseUnknownName(level: string, name: string, phases: readonly PhaseView[]): void {
  const known =
    level === "phase"
      ? phases.map((phase) => phase.name)
      : phases.flatMap(({ personas }) => personas.map((persona) => persona.name));
  if (known.includes(name)) return;
  throw new InputInvalid(`There is no ${level} "${name}" in this session.${didYouMean(name, known)}`);
}

/** A reviewer's word with the phase it is about: one word answers for one phase. */
export async function naming(message: Message, readState: () => Promise<SessionState>): Promise<Message> {
  if (message.say !== "approve" && message.say !== "reject") return message;
  return { ...message, phase: reviewedPhase(await readState(), message.say, message.phase) };
}

/** Which phase a reviewer means. With more than one that waits, a guess would answer for work that nobody looked at. */
function reviewedPhase(
  { id, phases }: SessionState,
  say: "approve" | "reject",
  named: string | undefined,
): string {
  // One that is not sealed yet is still in the hands of its driver.
  const waiting = [...phases].flatMap(([name, { review, checkpoint }]) =>
    review === "awaiting" && checkpoint !== undefined ? [name] : [],
  );
  const [only, ...others] = waiting;
  const details = { session: id, waiting };
  if (named !== undefined && waiting.includes(named)) return named;
  if (named !== undefined)
    throw new SessionConflict(`Phase ${named} does not wait for review.${didYouMean(named, waiting)}`, {
      details,
      advice: waiting.length === 0 ? advise("See why", "show", id) : `These wait: ${waiting.join(", ")}.`,
    });
  if (only === undefined)
    throw new SessionConflict(`No phase of session ${id} waits for review.`, {
      details,
      advice: advise("See why", "show", id),
    });
  if (others.length === 0) return only;
  throw new SessionConflict(`More than one phase waits for review: ${waiting.join(", ")}.`, {
    details,
    advice: advise("Name one of them", say, id, "--phase", only),
  });
}
