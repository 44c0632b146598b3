/**
 * Named places where a crash would do the most harm, each with the race it tests. They do nothing unless a test
 * arms one. The crash suite kills a real process at every one.
 */
export const faultPoints = {
  "schema.created:before-commit": "no process sees half a schema; the next open creates it",
  "schema.created:after-commit": "the schema exists and nothing else",
  "owner.beat:before-commit": "the lease is as old as the previous heartbeat",
  "owner.beat:after-commit": "a fresh heartbeat of a dead process does not keep its lease",
  "session.created:before-commit": "the caller has no id yet, so nothing remains",
  "session.created:after-commit": "the session exists without its files, and its caller does not know it",
  "session.restored:before-commit":
    "the database does not know the session; the next resume restores it from its files",
  "session.restored:after-commit":
    "the session is restored and not claimed; the next driver resumes it and restores nothing twice",
  "session.trusted:before-commit": "the import is not trusted, and nothing of it runs",
  "session.trusted:after-commit": "the import is trusted, and nothing of it has run",
  "session.claimed:before-commit": "half a claim leaves the old epoch valid",
  "session.claimed:after-commit": "a dead process holds the lease, and the next driver notices that at once",
  "session.directed:before-commit": "the selected phases are not recorded, and their caller is dead",
  "session.directed:after-commit": "the selected phases are recorded, and a recovery stops there too",
  "session.noted:before-commit": "the note is lost with its caller, who gives it again",
  "session.noted:after-commit": "the note is recorded, and given again it does not count twice",
  "team.changed:before-commit": "the session still has the old team",
  "team.changed:after-commit": "the session has the new team, and none of it has run",
  "decision.recorded:before-commit": "the decision is lost and made again",
  "decision.recorded:after-commit": "the decision is recorded and never made again",
  "baseline.measured:before-commit":
    "the check has run and is not recorded; it runs again, and no other does",
  "baseline.measured:after-commit": "the check is measured and never runs on the base files again",
  "phase.edited:before-commit": "the phase is unchanged",
  "phase.edited:after-commit": "the new revision is not sealed; the next claim seals it",
  "session.forked:before-commit": "the fork does not exist and leaves nothing behind",
  "session.forked:after-commit": "the fork is complete, and its caller does not know its id",
  "persona.reused:before-commit": "the result is not taken over; the next driver compares its input again",
  "persona.reused:after-commit": "the result is taken over, and the persona never runs",
  "group.merged:before-commit":
    "all members are done and not merged; the next driver merges them without running one",
  "group.merged:after-commit": "the group is merged once, and the next group starts on it",
  "attempt.reopened:before-commit": "the conflict is not recorded; the next merge finds it again",
  "attempt.reopened:after-commit": "the conflict counts as an attempt, and the next attempt has not started",
  "step.model:before-commit": "the answer is lost; the call is made again, and the lost one is estimated",
  "step.model:after-commit": "the answer is recorded and never requested again",
  "step.tool:before-commit": "the files changed in memory only; the tool runs again",
  "step.tool:after-commit": "the change is recorded; a replay applies it without running the tool",
  "step.check:before-commit": "the verdict is lost; the check runs again",
  "step.check:after-commit": "the verdict is recorded",
  "step.command:before-commit": "the run of the command is lost; it runs again",
  "step.command:after-commit": "the changes of the command are recorded",
  "step.heal:before-commit": "the healing action is lost with its changes; it is proposed again",
  "step.heal:after-commit": "the healing action is recorded, and the contract has not run again",
  "phase.started:before-commit": "there is no trace of the phase",
  "phase.started:after-commit": "the phase is open, and nothing in it has run",
  "attempt.started:before-commit": "the attempt is not counted",
  "attempt.started:after-commit":
    "the attempt is counted and continues; it does not start again as another one",
  "step.function:after-effect": "the effect happened and its record is lost: the window of at-least-once",
  "step.function:before-commit": "the effect happened and its record is lost inside the transaction",
  "step.function:after-commit":
    "the step is recorded and not acknowledged; it is replayed and never runs again",
  "effect.intended:before-commit": "the effect has not begun and has no trace; it begins in the next process",
  "effect.intended:after-commit":
    "the effect has not begun, and the next process cannot know that; its probe or a person says it",
  "effect.settled:before-commit": "the effect ended and its outcome is lost; its probe or a person says it",
  "effect.settled:after-commit": "the outcome is recorded; the effect never happens again",
  "effect.unknown:before-commit": "why the outcome is unknown is lost; the intent still says that it is",
  "effect.unknown:after-commit": "the unknown outcome is recorded, and the session is not parked yet",
  "step.wait:before-commit": "the wait has not begun",
  "step.wait:after-commit": "the next driver waits only for the remainder",
  "attempt.diverged:before-commit":
    "the old step is still valid; the next driver notices the divergence again",
  "attempt.diverged:after-commit": "the old step is discarded for good, and the new one has not run",
  "call.cut:before-commit":
    "the answer was cut and its record is lost: the reserved amount counts, and the call is made again",
  "call.cut:after-commit": "the cut answer is paid for, and the session is not parked yet",
  "call.waiting:before-commit":
    "the call has not begun and has no trace; the next driver asks a person about it",
  "call.waiting:after-commit": "the waiting call is recorded, and the session is not parked yet",
  "dependency.waiting:before-commit": "the wait is not recorded; the open breaker refuses the call again",
  "dependency.waiting:after-commit": "the attempt waits without being used up, also in the next process",
  "attempt.failed:before-commit": "the failure is not counted; the attempt continues and fails again",
  "attempt.failed:after-commit": "the failure is counted, and its wait has begun",
  "attempt.completed:before-commit":
    "the result is lost and its steps are not; the result is made again from them",
  "attempt.completed:after-commit": "the persona is done and does not run again",
  "phase.completed:before-commit": "every persona is done, and the phase is not",
  "phase.completed:after-commit":
    "the phase is done and not sealed; the next claim seals it without running anything",
  "checkpoint.sealed:before-commit":
    "the phase is not sealed; the next claim seals it without running anything",
  "checkpoint.sealed:after-commit":
    "the phase is sealed in the journal and its file is missing; the file is projected again",
  "directory:before-fsync":
    "the directory may not survive a power cut; the next process syncs it before it uses it",
  "file:before-fsync": "a torn temporary file never has the real name",
  "file:before-rename": "the next start removes a complete temporary file that no process reads",
  "file:after-rename": "the new name may not survive a power cut before the directory is synced",
  "pack:before-rename": "no row points to the pack yet",
  "pack:after-rename": "the pack is stored and unreferenced; prune removes it after a day",
  "artifact:before-rename": "no row points to the artifact yet",
  "artifact:after-rename": "the artifact is stored and unreferenced; prune removes it after a day",
  "session.aside:before-rename": "the prune has removed nothing yet",
  "session.aside:after-rename": "the files are set aside and the rows exist; the next prune decides",
  "session.aside:before-remove":
    "the rows are deleted and the files are set aside; the next prune removes them",
  "session.back:before-rename":
    "the files that a killed prune set aside are still there; the next prune decides",
  "session.back:after-rename": "the session is as it was before the prune",
  "artifact.aside:after-rename":
    "the artifact is set aside and may be needed; the next prune finds it and decides again",
  "artifact.aside:before-remove": "the artifact is unneeded and still there; the next prune removes it",
  "setup.started:before-commit": "no setup is announced; the next driver starts it",
  "setup.started:after-commit": "the setup is announced and has not run; the next driver runs it",
  "setup.ended:before-commit":
    "the layer is there and not recorded; the next driver finds it and runs nothing",
  "setup.ended:after-commit": "the setup is done, and no phase has started",
  "layer:before-rename": "a layer that is filled and has no name; the next setup makes it again",
  "layer:after-rename": "the layer is complete, and no session is marked as its user",
  "scratch:after-copy": "the files of a program that never started are removed at the next open",
  "scratch:before-remove": "the files of a program that ended are removed at the next open",
  "kept:after-copy": "the agent never started; the next driver creates its files anew",
  "kept:before-remove":
    "the agent's work is recorded and its files are still there; the next driver removes them",
  "export:before-rename": "no export has the final name",
  "export:after-rename": "the export is complete, and its caller does not know it",
  "signal.sent:before-commit": "the sender is dead, and no signal is stored",
  "signal.sent:after-commit": "the sender is dead, and the driver receives the signal all the same",
  "signal.received:before-commit": "the signal is still in the inbox",
  "signal.received:after-commit": "the signal is in the journal once and no longer in the inbox",
  "deliver:after-branch": "the branch is made and not recorded; the next driver makes the same commits",
  "deliver:after-push":
    "the remote has the branch and the journal does not know; the next driver finds it there",
  "session.delivered:before-commit":
    "everything is delivered and nothing recorded; the next driver delivers the same again",
  "session.delivered:after-commit": "the delivery is recorded, and its pull request waits in the outbox",
  "session.status:before-commit": "the work is finished, and the session's status does not say so",
  "session.status:after-commit": "the session is finished, and its summary file is not written",
  "session.released:before-commit": "a dead process still holds the lease of a finished drive",
  "session.released:after-commit": "the lease is released, and the process is killed before it exits",
  "session.deleted:before-commit": "a part of the rows still exists, and the session does not look damaged",
  "session.deleted:after-commit":
    "a part of the rows is deleted, and the session cannot be listed, resumed or restored",
  "folders.compared:before-commit": "the comparison is not remembered; the next start compares again",
  "folders.compared:after-commit":
    "the comparison is remembered, and a database that is lost later is still noticed",
  "space.reclaimed:before-commit": "sessions are deleted and their space is not reclaimed",
  "space.reclaimed:after-commit": "the space is reclaimed before the database file is truncated",
  "breaker.admitted:before-commit": "the turn to probe is free, and the next process takes it",
  "breaker.admitted:after-commit":
    "a dead process has the turn to probe; the turn expires and does not count for the service",
  "breaker.recorded:before-commit": "the call was made, and neither its breaker nor its step has the outcome",
  "breaker.recorded:after-commit": "the breaker has counted the call and never counts it again",
  "breaker.reset:before-commit": "the breaker is unchanged",
  "breaker.reset:after-commit": "the breaker is reset, and its caller does not know it",
  "ticket.raised:before-commit": "neither the parked session nor the ticket exists",
  "ticket.raised:after-commit": "the ticket waits in the outbox, and its process cannot deliver it",
  "ticket.taken:before-commit": "the ticket is still due",
  "ticket.taken:after-commit":
    "a dead process took the ticket and may have posted it; the next one searches before it posts",
  "ticket.settled:before-commit":
    "the tracker has the ticket and the outbox does not know; it is found and not posted twice",
  "ticket.settled:after-commit": "the ticket is delivered, and its process cannot report it",
  "ticket.forgotten:before-commit":
    "the ticket's file is removed and its row is not; the next prune removes the row",
  "ticket.forgotten:after-commit": "the ticket is removed with its session, and the prune cannot report it",
  "login.added:before-commit": "the browser is not signed in, and its code is used up",
  "login.added:after-commit": "the login is stored, and its browser never got the secret; it expires",
  "login.renewed:before-commit": "the login expires as it would have without this use",
  "login.renewed:after-commit": "the login lasts longer",
  "login.ended:before-commit": "the sign-out was not answered, and the login is still valid",
  "login.ended:after-commit": "the login is over, although its sign-out was not answered",
  "user.added:before-commit": "the person has no token",
  "user.added:after-commit": "the person exists, and the token was never shown; revoke and add again",
  "link.redeemed:before-commit": "the link still works",
  "link.redeemed:after-commit": "the link is used up, and its browser is not signed in",
  "user.revoked:before-commit": "the revocation was not answered, and the token is still valid",
  "user.revoked:after-commit": "token and logins are over, although the revocation was not answered",
  "act.noted:before-commit": "the act happened, and only the journal tells of it",
  "act.noted:after-commit": "the act is in the audit view, and its request was not answered",
  "call.reserved:before-commit": "the call is not made, and nothing is reserved for it",
  "call.reserved:after-commit":
    "the money is reserved for a call that may have been made; the next claim counts it as made",
  "call.settled:before-commit":
    "the answer and its cost are lost; the call is made again, and the lost one stays as an estimate",
  "call.settled:after-commit":
    "the call is paid, counted and recorded at once, and never made or counted again",
  "call.released:before-commit":
    "the call was never sent and is still reserved; the next claim counts it as made",
  "call.released:after-commit": "the call was never sent, and nothing is reserved for it",
  "call.estimated:before-commit": "the reservations of a dead driver still block other calls",
  "call.estimated:after-commit": "the calls of a dead driver count as made once; the next claim finds none",
  "budget.alerted:before-commit": "the warning is not recorded; the next settlement raises it",
  "budget.alerted:after-commit":
    "the warning is recorded and not sent; the session shows it, and it is never raised again",
  "journal.indexed:before-commit": "the rows are appended and not indexed; the scan of the tail finds them",
  "journal.indexed:after-commit": "the rows are indexed and found once, not twice",
} as const satisfies Record<string, string>;

export type FaultPoint = keyof typeof faultPoints;

/** The name of a commit. Each commit has a fault point before and after it. */
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

/**
 * How often the point was reached. Shared, because a process makes its first commits before its writer thread
 * exists.
 */
type Hits = Int32Array<SharedArrayBuffer>;

export type Reach = (point: FaultPoint) => void;

let armed: { readonly fault: ArmedFault; readonly hits: Hits } | undefined;

/** Undefined unless a test armed a fault, so that `reach?.("...")` is free otherwise. */
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
  // The signal is delivered asynchronously, and nothing after this point may run.
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0);
}

/** Names arrive as text from test tables. An unknown name must fail. */
export function isFaultPoint(name: string): name is FaultPoint {
  return Object.hasOwn(faultPoints, name);
}
