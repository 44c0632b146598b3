import type { SessionId } from "../domain/ids.ts";
import type { ParkReason, SessionStatus } from "../journal/standing.ts";

export interface SessionRecord {
  readonly id: SessionId;
  readonly key: string | undefined;
  readonly team: string;
  readonly teamFingerprint: string;
  /** Fingerprint of what the session is about; the same key must mean the same work. */
  readonly identity: string;
  readonly status: SessionStatus;
  readonly reason: ParkReason | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}
