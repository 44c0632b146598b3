import type { Entry } from "../journal/journal.ts";
import type { RowToWrite } from "../journal/journal-codec.ts";
import type { Command } from "./command.ts";
import { type CommitName, type FaultPoint, isFaultPoint, type Reach } from "./fault-points.ts";

type Moment = "before-commit" | "after-commit";

/** A commit is named after the facts it records, so that a test can stop at exactly one of them. */
export function reachCommit(
  reach: Reach,
  commands: readonly Command[],
  indexed: boolean,
  moment: Moment,
): void {
  for (const command of commands) {
    for (const name of namesOf(command)) reach(pointOf(name, moment));
  }
  if (indexed) reach(pointOf("journal.indexed", moment));
}

/** Does not compile if a commit has a fault point on one side only. */
function pointOf(name: CommitName, moment: Moment): FaultPoint {
  return `${name}:${moment}`;
}

/** Exhaustive: a new verb without a fault point does not compile. */
function namesOf(command: Command): readonly CommitName[] {
  switch (command.verb) {
    case "append": {
      const { call, tickets = [], settlement, alerts = [] } = command.effects;
      return [
        ...command.rows.map(nameOfRow),
        ...(call === undefined ? [] : (["breaker.recorded"] as const)),
        ...(tickets.length === 0 ? [] : (["ticket.raised"] as const)),
        ...(settlement === undefined ? [] : (["call.settled"] as const)),
        ...(alerts.length === 0 ? [] : (["budget.alerted"] as const)),
      ];
    }
    case "create":
      return [command.row, ...command.appended].map(nameOfRow);
    case "restore":
      return command.appended.map(nameOfRow);
    case "claim":
      return [nameOfRow(command.row)];
    case "receive":
      return ["signal.received"];
    case "release":
      return ["session.released"];
    case "admit":
      return ["breaker.admitted"];
    case "end-call":
      return ["breaker.recorded"];
    case "reset-breaker":
      return ["breaker.reset"];
    case "raise-ticket":
      return ["ticket.raised"];
    case "take-ticket":
      return ["ticket.taken"];
    case "settle-ticket":
      return ["ticket.settled"];
    case "forget-tickets":
      return ["ticket.forgotten"];
    case "add-login":
      return ["login.added"];
    case "renew-login":
      return ["login.renewed"];
    case "end-login":
      return ["login.ended"];
    case "add-user":
      return ["user.added"];
    case "redeem-link":
      return ["link.redeemed"];
    case "revoke-user":
      return ["user.revoked"];
    case "note-act":
      return ["act.noted"];
    case "reserve":
      return ["call.reserved"];
    case "release-reservation":
      return ["call.released"];
    case "estimate":
      return ["call.estimated"];
    case "signal":
      return ["signal.sent"];
    case "delete":
      return ["session.deleted"];
    case "remember-comparison":
      return ["folders.compared"];
    case "reclaim":
      return ["space.reclaimed"];
    // Shown to people only.
    case "block":
    case "pass":
      return [];
  }
}

function nameOfRow({ kind }: RowToWrite): CommitName {
  if (!isFaultPoint(`${kind}:before-commit`)) throw new Error(`no fault point is named after "${kind}"`);
  return nameOfEntry(kind as Entry["kind"]);
}

/** Exhaustive: a new kind of entry without a fault point does not compile. */
function nameOfEntry(kind: Entry["kind"]): CommitName {
  return kind;
}
