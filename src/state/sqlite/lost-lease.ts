import { LeaseLost } from "../../domain/errors.ts";
import type { Lease } from "../lease.ts";
import type { Reply } from "./command.ts";

export function lostTo(lease: Lease, reply: Reply): LeaseLost {
  const now = reply.kind === "refused" ? reply.epoch : undefined;
  return new LeaseLost(`Session ${lease.sessionId} was taken over by another driver; nothing was written.`, {
    details: { session: lease.sessionId, epoch: lease.epoch, currentEpoch: now },
  });
}
