import type { Advice } from "../domain/advice.ts";
import type { SessionView } from "../index.ts";
import { explainStop } from "../journal/explain-stop.ts";
import { plain } from "./terminal/format.ts";
import { type AnswerLine, adviceLines, commandFor, textLine as text } from "./typed-command.ts";

export interface Facing {
  readonly stateDir: string | undefined;
  readonly abandoned: boolean;
}

/** Why a session stopped and what to do, in the order that a person on call needs. */
export function explanationLines(view: SessionView, { stateDir, abandoned }: Facing): readonly AnswerLine[] {
  const { lost, cost, why, todo, resume } = explainStop(view, { abandoned });
  const of = (advice: Advice): readonly AnswerLine[] => adviceLines(advice, stateDir);
  return [
    text(lost),
    ...cost.split("\n").map(text),
    ...(why === null ? [] : [text(view.status === "queued" ? why : `Why it stopped: ${why}`)]),
    ...todo.flatMap((advice, index) =>
      index === 0 ? of({ ...advice, text: `What to do: ${advice.text}` }) : of(advice),
    ),
    ...view.tickets.flatMap(ticketLines),
    ...(resume === null ? [] : resumeLines(resume, stateDir)),
  ];
}

function resumeLines(
  { text: sentence, command }: Advice,
  stateDir: string | undefined,
): readonly AnswerLine[] {
  if (command === null) return [text(sentence)];
  const typed = commandFor(stateDir, ...command.slice(1));
  return [{ text: plain(`${sentence}: ${typed}`), isCommand: true }];
}

function ticketLines({
  url,
  key,
  fingerprint,
  status,
  lastError,
}: SessionView["tickets"][number]): readonly AnswerLine[] {
  return [
    text(`Ticket: ${url ?? key ?? fingerprint} (${status})`),
    ...(lastError === null ? [] : [text(`  not delivered: ${lastError}`)]),
  ];
}
