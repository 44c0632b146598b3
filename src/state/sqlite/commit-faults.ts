import { armedFault, isFaultPoint, reach } from "../fault-points.ts";
import type { Command } from "./command.ts";

/** A commit is named after what it records first, so a test can stop at exactly that fact. */
export function reachCommit(
  commands: readonly Command[],
  indexed: boolean,
  moment: "before-commit" | "after-commit",
): void {
  if (armedFault() === undefined) return;
  for (const command of commands) {
    for (const label of labels(command)) {
      const point = `${label}:${moment}`;
      if (isFaultPoint(point)) reach(point);
    }
  }
  if (indexed) reach(`journal.indexed:${moment}`);
}

function labels(command: Command): readonly string[] {
  switch (command.verb) {
    case "append":
      return command.rows.map((row) => row.kind);
    case "create":
    case "restore":
    case "claim":
      return [command.row.kind];
    case "receive":
      return ["message.received"];
    case "release":
      return ["session.released"];
    case "end-call":
      return ["breaker.recorded"];
    case "settle-ticket":
      return ["ticket.settled"];
    case "take-ticket":
      return ["ticket.taken"];
    case "admit":
    case "reset-breaker":
    case "raise-ticket":
    case "say":
    case "delete":
    case "reclaim":
      return [command.verb];
  }
}
