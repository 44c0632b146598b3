import type { ErrorJson } from "../domain/error-json.ts";
import type { SessionId } from "../domain/ids.ts";
import type { ParkReason, SessionStatus } from "../journal/standing.ts";

export interface SessionRecord {
  readonly id: SessionId;
  readonly key: string | undefined;
  readonly team: string;
  readonly teamFingerprint: string;
  /** Fingerprint of the session's work. The same key must mean the same work. */
  readonly identity: string;
  readonly status: SessionStatus;
  readonly reason: ParkReason | undefined;
  /** When the scheduler may take it. A running session has no driver until then. */
  readonly wakeAt: number | undefined;
  readonly model: string | undefined;
  readonly queue: string;
  readonly priority: number;
  /** Why a process that could drive it does not take it. */
  readonly blocked: ErrorJson | undefined;
  readonly createdAt: number;
  readonly updatedAt: number;
}
