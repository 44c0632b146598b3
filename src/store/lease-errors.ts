import { LeaseHeld, LeaseLost, SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Reply } from "./command.ts";
import type { Lease } from "./journal.ts";
import type { Owner } from "./owner.ts";

export function notFound(id: SessionId): SessionNotFound {
  return new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
}

export function heldBy(id: SessionId, holder: Owner | undefined): LeaseHeld {
  const driver = holder === undefined ? "another driver" : `process ${holder.pid}`;
  return new LeaseHeld(`Session ${id} is being driven by ${driver}.`, {
    details: { session: id, pid: holder?.pid },
    advice: "Let it finish, or stop that process and resume: a dead driver is noticed at once.",
  });
}

export function lostTo(lease: Lease, reply: Reply): LeaseLost {
  const now = reply.kind === "refused" ? reply.epoch : undefined;
  return new LeaseLost(`Session ${lease.sessionId} was taken over by another driver; nothing was written.`, {
    details: { session: lease.sessionId, epoch: lease.epoch, currentEpoch: now },
  });
}
