import { admit, onOutcome } from "../../domain/breaker.ts";
import { chainStart, encodeEntry, type RowToWrite, transitionRow } from "../../journal/journal-codec.ts";
import type { BreakerUse, EndedCall } from "../breaker-store.ts";
import type { Placed, ReceivedSignal, Reply } from "../command.ts";
import { isAsJudged } from "../decisions/lease.ts";
import { reachedLimit } from "../decisions/limits.ts";
import type { Batch, BatchCommand, BreakerImage } from "./batch.ts";
import { SessionImage } from "./session-image.ts";

type Of<Verb> = Extract<BatchCommand, { verb: Verb }>;

/** Decides a command on what the batch has loaded. Throws if the command is bad; the batch is then of no use. */
export function execute(batch: Batch, command: BatchCommand): Reply {
  switch (command.verb) {
    case "create":
      return create(batch, command);
    case "claim":
      return claim(batch, command);
    case "release":
      return release(batch, command);
    case "append":
      return append(batch, command);
    case "receive": {
      const session = leased(batch, command);
      if (session === undefined) return refused(batch, command);
      return { kind: "received", rows: receive(batch, session, command.at) };
    }
    case "admit":
      return { kind: "admission", admission: admitTo(batch, command.use, command.at) };
    case "end-call":
      endCall(batch, command.call, command.at);
      return { kind: "done" };
    case "reserve":
      if (leased(batch, command) === undefined) return refused(batch, command);
      return { kind: "reservation", answer: batch.ledger.reserve(command) };
    case "release-reservation":
      if (leased(batch, command) === undefined) return refused(batch, command);
      batch.ledger.release(command, command.reservation);
      return { kind: "done" };
    case "estimate":
      if (leased(batch, command) === undefined) return refused(batch, command);
      batch.ledger.estimateOpen(command.session, command.at);
      return { kind: "done" };
  }
}

function create(batch: Batch, command: Of<"create">): Reply {
  const { session: given, row, copied, appended, at, artifacts, artifactsOf, usage, isClaimed } = command;
  const { ids, keys } = batch.taken;
  if (ids.has(given.id) || (given.key !== null && keys.has(given.key))) return { kind: "exists" };
  ids.add(given.id);
  if (given.key !== null) keys.add(given.key);
  const number = batch.numbers.shift();
  if (number === undefined) throw new Error("no number is left for a session");
  const session = new SessionImage({
    number,
    id: given.id,
    epoch: 0,
    owner: null,
    seq: 0,
    hash: chainStart(given.id),
    status: "queued",
    reason: null,
    wakeAt: given.wakeAt,
    blocked: null,
    teamFingerprint: given.teamFingerprint,
    recoveries: 0,
    updatedAt: given.at,
    statusAt: given.at,
  });
  const [created] = session.append([row], given.at) as [Placed];
  session.copy(copied);
  session.append(appended, at);
  for (const sha256 of artifacts) session.references.add(sha256);
  if (artifactsOf !== undefined) session.referencesOf.push(artifactsOf);
  batch.ledger.restore(number, usage, isClaimed);
  batch.created.push({ command, session });
  return { kind: "placed", epoch: 0, rows: [created] };
}

/** Compare and swap: the lease must be unchanged since the claimant judged it free, dead or expired. */
function claim(batch: Batch, command: Of<"claim">): Reply {
  const { judged, expectedStatus, claimant, at, row, cause, limits } = command;
  const session = batch.sessions.get(command.session);
  if (session === undefined) return refused(batch, command);
  const hasStatus = expectedStatus === null || session.columns.status === expectedStatus;
  const hasPlace = reachedLimit(limits, (kind) => batch.running.get(kind) ?? 0) === undefined;
  if (!isAsJudged(session.lease, judged) || !hasStatus || !hasPlace) return refused(batch, command);
  batch.claimants.set(claimant.id, claimant);
  session.give(claimant.id, session.epoch + 1);
  batch.ledger.estimateOpen(session.number, at);
  // Signals first: a person's resume revokes an earlier pause, received or not.
  const received = receive(batch, session, at);
  if (cause === "recovery") session.change({ recoveries: session.columns.recoveries + 1 });
  else if (cause === "resume") session.change({ recoveries: 0 });
  return { kind: "placed", epoch: session.epoch, rows: session.append([row], at), received };
}

function release(batch: Batch, command: Of<"release">): Reply {
  const session = leased(batch, command);
  if (session === undefined) return { kind: "done" };
  session.give(null);
  // The results of its open calls are lost, and the next claim may never come.
  batch.ledger.estimateOpen(session.number, command.at);
  return { kind: "done" };
}

function append(batch: Batch, command: Of<"append">): Reply {
  const { at, effects } = command;
  const session = leased(batch, command);
  if (session === undefined) return refused(batch, command);
  const { artifacts = [], artifactsOf, call, tickets = [], settlement, savings } = effects;
  for (const sha256 of artifacts) session.references.add(sha256);
  if (artifactsOf !== undefined) session.referencesOf.push(artifactsOf);
  if (call !== undefined) endCall(batch, call, at);
  for (const ticket of tickets) batch.tickets.push({ ticket, at });
  if (settlement !== undefined) batch.ledger.settle(settlement, command, command.rows, session.seq);
  if (savings !== undefined) batch.ledger.save(savings, session.number, at);
  const rows = session.append(command.rows, at);
  const alerts = effects.alerts && batch.ledger.raise(session.number, at, effects.alerts);
  if (alerts === undefined || alerts.length === 0) return { kind: "placed", epoch: session.epoch, rows };
  const alerted: RowToWrite[] = alerts.map((alert) => encodeEntry({ kind: "budget.alerted", alert }));
  return { kind: "placed", epoch: session.epoch, rows: [...rows, ...session.append(alerted, at)], alerts };
}

function receive(batch: Batch, session: SessionImage, at: number): ReceivedSignal[] {
  const waiting = batch.inbox.get(session.number) ?? [];
  batch.inbox.delete(session.number);
  return waiting.map(({ id, at: sentAt, body: message }) => {
    const body = `{"signal":${message},"sentAt":${sentAt}}`;
    const [placed] = session.append([transitionRow("signal.received", body)], at) as [Placed];
    batch.received.push(id);
    return { placed, body };
  });
}

function admitTo(batch: Batch, { dependency, owner, policy }: BreakerUse, now: number) {
  const breaker = batch.breakers.get(dependency) as BreakerImage;
  const admission = admit(breaker.record, { now, owner, policy });
  breaker.record = admission.record;
  breaker.changedAt = now;
  return admission;
}

function endCall(batch: Batch, { use, outcome }: EndedCall, now: number): void {
  const { dependency, owner, isProbe, policy } = use;
  const breaker = batch.breakers.get(dependency) as BreakerImage;
  breaker.record = onOutcome(breaker.record, outcome, { now, owner, isProbe, policy });
  breaker.changedAt = now;
}

/** The session, if the command's proof is that of its lease. */
function leased(
  batch: Batch,
  proof: { readonly session: number; readonly epoch: number; readonly owner: string | null },
): SessionImage | undefined {
  const session = batch.sessions.get(proof.session);
  return session?.epoch === proof.epoch && session.owner === proof.owner ? session : undefined;
}

const refused = (batch: Batch, { session }: { readonly session: number }): Reply => ({
  kind: "refused",
  epoch: batch.sessions.get(session)?.epoch ?? 0,
});
