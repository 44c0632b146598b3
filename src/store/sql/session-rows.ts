import type { ErrorJson } from "../../domain/error-json.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { RecordedRow } from "../../journal/journal.ts";
import type { ParkReason, SessionStatus } from "../../journal/standing.ts";
import type { Turn } from "../decisions/take.ts";
import type { Heartbeat } from "../owner.ts";
import type { SessionRecord } from "../session-record.ts";

// Columns of sessions, owners and rows, and the rows as lists of them.

export const sessionColumns = `id, key, team, team_fingerprint, identity, status, reason, created_at, updated_at, wake_at, model,
  queue, priority, blocked`;
export const turnColumns = "s.id, s.team, s.model, s.queue, s.priority, s.recoveries, coalesce(s.wake_at, 0)";
export const rowColumns = "seq, epoch, at, kind, attempt, occurrence, fingerprint, name, body, hash";
export const ownerColumns =
  "o.id, o.machine, o.boot, o.pid_namespace, o.pid, o.started, o.beats, o.beat_uptime_ms, o.beat_at";

export function toSession(row: unknown[]): SessionRecord {
  const [id, key, team, teamFingerprint, identity, status, reason, createdAt, updatedAt, ...turn] = row;
  const [wakeAt, model, queue, priority, blocked] = turn;
  return {
    id: id as SessionId,
    key: (key as string | null) ?? undefined,
    team: team as string,
    teamFingerprint: teamFingerprint as string,
    identity: identity as string,
    status: status as SessionStatus,
    reason: (reason as ParkReason | null) ?? undefined,
    createdAt: createdAt as number,
    updatedAt: updatedAt as number,
    wakeAt: (wakeAt as number | null) ?? undefined,
    model: (model as string | null) ?? undefined,
    queue: queue as string,
    priority: priority as number,
    blocked: readBlocked(blocked),
  };
}

export const readBlocked = (text: unknown): ErrorJson | undefined =>
  typeof text === "string" ? (JSON.parse(text) as ErrorJson) : undefined;

export function toTurn(row: unknown[]): Turn {
  const [id, team, model, queue, priority, recoveries, wakeAt] = row;
  return {
    id: id as SessionId,
    team: team as string,
    model: (model as string | null) ?? undefined,
    queue: queue as string,
    priority: priority as number,
    recoveries: recoveries as number,
    wakeAt: wakeAt as number,
  };
}

export function toHeartbeat(row: unknown[]): Heartbeat {
  const [id, machine, boot, pidNamespace, pid, started, beats, beatUptimeMs, beatAt] = row as [
    string,
    string,
    string,
    string,
    number,
    string,
    number,
    number,
    number,
  ];
  return { id, machine, boot, pidNamespace, pid, started, beats, beatUptimeMs, beatAt };
}

/** Indexed access instead of destructuring, which takes three times as long. A history has many rows. */
export function toRecordedRow(row: unknown[]): RecordedRow {
  return {
    seq: row[0],
    epoch: row[1],
    at: row[2],
    kind: row[3],
    attempt: row[4],
    occurrence: row[5],
    fingerprint: row[6],
    name: row[7],
    body: row[8],
    hash: row[9],
  } as RecordedRow;
}
