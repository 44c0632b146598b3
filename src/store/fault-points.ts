/**
 * Named places where a crash would be most harmful, each with the race it exists for. They do nothing unless a test
 * arms one; the crash suite kills a real process at every one of them.
 */
export const faultPoints = {
  "schema.created:before-commit": "a half-made schema must not be seen: the next one makes it whole",
  "schema.created:after-commit": "the schema is there, and nothing else",
  "owner.beat:before-commit": "the lease is as old as its last beat",
  "owner.beat:after-commit": "a fresh beat of a dead process must not keep its lease",
  "session.created:before-commit": "the caller has no id yet: nothing may remain",
  "session.created:after-commit": "the session exists but its files and its caller do not know",
  "session.restored:before-commit":
    "the database was lost and still knows nothing: restored again from the files",
  "session.restored:after-commit":
    "restored and not yet claimed: the next process continues, and restores nothing twice",
  "session.claimed:before-commit": "a half-made claim must leave the old epoch valid",
  "session.claimed:after-commit": "the lease is held by a dead process: the next one must see that at once",
  "session.directed:before-commit": "how far to go is not on record: the caller is gone with it",
  "session.directed:after-commit": "how far to go is on record: a recovery stops there as well",
  "team.changed:before-commit": "the session is still one of the old team",
  "team.changed:after-commit": "the session is one of the new team, and nothing of it has run",
  "decision.recorded:before-commit": "not decided: it is decided again",
  "decision.recorded:after-commit": "decided once: never again",
  "phase.edited:before-commit": "the phase is as it was",
  "phase.edited:after-commit": "a new revision that is not sealed: sealed at the next claim",
  "session.forked:before-commit": "the fork does not exist, and nothing of it is left behind",
  "session.forked:after-commit": "the fork is whole and its caller does not know its id",
  "persona.reused:before-commit": "not yet taken over: its input is compared again",
  "persona.reused:after-commit": "taken over: never run",
  "group.merged:before-commit":
    "all members are done, their files are not merged: merged again, no member runs",
  "group.merged:after-commit": "merged once; the next group starts on it",
  "attempt.reopened:before-commit": "the clash is not on record: found again by merging again",
  "attempt.reopened:after-commit": "the clash is counted as an attempt, and its next one has not begun",
  "step.model:before-commit": "the answer came and is lost: asked again, the lost one is estimated",
  "step.model:after-commit": "the answer is on record: never asked again",
  "step.tool:before-commit": "the files were changed in memory only: done again",
  "step.tool:after-commit": "the change is on record: applied again, not done again",
  "step.check:before-commit": "the check ran and its verdict is lost: it runs again",
  "step.check:after-commit": "the verdict is on record",
  "step.command:before-commit": "the command ran and is lost: it runs again",
  "step.command:after-commit": "what it left is on record",
  "step.heal:before-commit": "the action is forgotten with its changes: proposed again",
  "step.heal:after-commit": "the action is on record, the contract has not run again",
  "phase.started:before-commit": "no trace of the phase",
  "phase.started:after-commit": "the phase is open, nothing in it has run",
  "attempt.started:before-commit": "the attempt is not counted",
  "attempt.started:after-commit": "the attempt is counted and must continue, not start again as another",
  "step.function:after-effect": "the effect happened and its record is lost: the one window of at-least-once",
  "step.function:before-commit": "as above, inside the transaction",
  "step.function:after-commit": "recorded but not acknowledged: must be replayed, never run again",
  "step.wait:before-commit": "the wait has not begun",
  "step.wait:after-commit": "only the remainder may be waited",
  "attempt.diverged:before-commit": "the old step is still on record: noticed again by the next driver",
  "attempt.diverged:after-commit": "the old step is set aside for good, the new one has not run",
  "dependency.waiting:before-commit": "the wait is not on record: the open breaker causes it again",
  "dependency.waiting:after-commit": "waits without using up its attempt, also in the next process",
  "attempt.failed:before-commit": "the failure is not counted; the attempt continues and fails again",
  "attempt.failed:after-commit": "the failure is counted and its wait has begun",
  "attempt.completed:before-commit": "the result is lost, its steps are not: it is made again from them",
  "attempt.completed:after-commit": "the persona is done and must not run again",
  "phase.completed:before-commit": "every persona is done, the phase is not",
  "phase.completed:after-commit": "done but not sealed: sealed at the next claim without running anything",
  "checkpoint.sealed:before-commit": "as above",
  "checkpoint.sealed:after-commit": "sealed in the journal, the file is missing: projected again",
  "directory:before-fsync":
    "a directory that may not survive a power cut: the next one syncs it before it uses it",
  "file:before-fsync": "a torn temporary file, never under the real name",
  "file:before-rename": "a whole temporary file that is never read and that the next start removes",
  "file:after-rename": "the new name may not survive a power cut before the directory is synced",
  "artifact:before-rename": "no row may point to it yet",
  "artifact:after-rename": "stored but unreferenced: kept for a day, then pruned",
  "session.aside:before-rename": "a prune that has taken nothing yet",
  "session.aside:after-rename": "the files are out of sight and the rows are there: the next prune decides",
  "session.aside:before-remove": "the rows are gone and the files lie aside: the next prune takes them",
  "session.back:before-rename": "what a killed prune set aside still lies there: the next prune decides",
  "session.back:after-rename": "the session is as it was before the prune",
  "artifact.aside:after-rename": "out of its place and perhaps needed: found there, and judged again",
  "artifact.aside:before-remove": "judged for the last time and still there: it goes with the next prune",
  "scratch:after-copy": "files on the disk for a program that never starts: they go at the next open",
  "scratch:before-remove": "the program is done and its files are left: the next open removes them",
  "kept:after-copy": "files for an agent that never starts: the next driver makes them anew",
  "kept:before-remove":
    "the agent's work is on record and its files are there: the next driver takes them away",
  "export:before-rename": "no export under its name",
  "export:after-rename": "the export is whole, and its caller does not know",
  "message.said:before-commit": "the speaker is gone: nothing was said",
  "message.said:after-commit":
    "the speaker is gone and the driver knows nothing yet: it is heard all the same",
  "message.received:before-commit": "the message is still in the inbox",
  "message.received:after-commit": "the message is in the journal once and gone from the inbox",
  "session.status:before-commit": "the work is finished, the session does not say so",
  "session.status:after-commit": "the session is finished, its summary file is not",
  "session.released:before-commit": "the lease of a finished driver is still held by a dead process",
  "session.released:after-commit": "released, and the process is gone before it could say goodbye",
  "session.deleted:before-commit": "a slice of the rows is still there: the session may not look damaged",
  "session.deleted:after-commit":
    "a slice is gone and the rest is not: the session must not be listed, resumed or restored",
  "folders.compared:before-commit": "compared and not remembered: compared again at the next start",
  "folders.compared:after-commit":
    "compared once: a database that is lost afterwards is noticed all the same",
  "space.reclaimed:before-commit": "sessions are deleted, their space is not given back",
  "space.reclaimed:after-commit": "as above, before the database is made smaller",
  "breaker.admitted:before-commit": "the turn to probe was not taken: the next one takes it",
  "breaker.admitted:after-commit":
    "the turn to probe belongs to a dead process: it runs out and says nothing about the service",
  "breaker.recorded:before-commit":
    "the call was made, and neither its breaker nor its step knows how it ended",
  "breaker.recorded:after-commit": "the breaker has counted the call: never a second time",
  "breaker.reset:before-commit": "the breaker is as it was",
  "breaker.reset:after-commit": "the breaker is new, the person who asked does not know",
  "ticket.raised:before-commit": "neither the session parked nor a ticket: both or none",
  "ticket.raised:after-commit": "the ticket waits in the outbox, and its process is gone",
  "ticket.taken:before-commit": "the ticket is due as before",
  "ticket.taken:after-commit":
    "taken by a dead process, perhaps posted: searched for before it is posted again",
  "ticket.settled:before-commit":
    "the tracker has the ticket, the outbox does not know: found, not posted twice",
  "ticket.settled:after-commit": "delivered, and its session was not notified",
  "ticket.forgotten:before-commit": "its file is gone and the outbox still has it: the next prune takes it",
  "ticket.forgotten:after-commit": "removed with its session, and its caller does not know",
  "call.reserved:before-commit": "the call has not been made, and nothing is held for it",
  "call.reserved:after-commit":
    "held for a call that is never made: counts as made at the next claim, because that is unknown",
  "call.settled:before-commit":
    "the answer is lost and so is what it cost: the call is made again, the lost one stays as an estimate",
  "call.settled:after-commit": "paid, counted and recorded in one: never called and never counted again",
  "call.released:before-commit": "never sent, but still held: counts as made at the next claim",
  "call.released:after-commit": "never sent and not held, and its caller does not know",
  "call.estimated:before-commit": "a dead driver's calls still block other sessions",
  "call.estimated:after-commit": "a dead driver's calls count as made, once: its next claim finds none",
  "budget.alerted:before-commit": "the alert is not on record: the next look raises it",
  "budget.alerted:after-commit": "on record, and not said aloud: shown with the session, never raised again",
  "journal.indexed:before-commit": "rows appended and not indexed: found by the scan of the tail",
  "journal.indexed:after-commit": "rows indexed in bulk: found once, not twice",
} as const satisfies Record<string, string>;

export type FaultPoint = keyof typeof faultPoints;

/** The name of a commit: each has a point on both sides of it. */
export type CommitName = FaultPoint extends infer Point
  ? Point extends `${infer Name}:before-commit`
    ? Name
    : never
  : never;

export interface ArmedFault {
  readonly point: FaultPoint;
  /** Acts at the n-th time the point is reached. */
  readonly hit: number;
  readonly act: "kill" | "throw";
}

/** How often the point was reached; shared, because the first commits of a process are made before its writer stands. */
type Hits = Int32Array<SharedArrayBuffer>;

export type Reach = (point: FaultPoint) => void;

let armed: { readonly fault: ArmedFault; readonly hits: Hits } | undefined;

/** Undefined unless a test armed a fault: `reach?.("...")` costs a run without faults nothing. */
export let reach: Reach | undefined;

/** For tests only. The writer thread starts with the armed fault and its count. */
export function armFault(
  fault: ArmedFault | undefined,
  hits: Hits = new Int32Array(new SharedArrayBuffer(4)),
): void {
  armed = fault && { fault, hits };
  reach = armed && act;
}

export function armedFault(): typeof armed {
  return armed;
}

function act(point: FaultPoint): void {
  if (armed === undefined || armed.fault.point !== point) return;
  const { fault, hits } = armed;
  if (Atomics.add(hits, 0, 1) + 1 !== fault.hit) return;
  if (fault.act === "throw") throw new Error(`fault injected at ${point}`);
  process.kill(process.pid, "SIGKILL");
  // The signal is delivered asynchronously; nothing after this point may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Rows come as text, and a row without a point must fail. */
export function isFaultPoint(name: string): name is FaultPoint {
  return Object.hasOwn(faultPoints, name);
}
