import type { Cursor } from "../../domain/cursor.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import type { SessionCard } from "../../journal/session-card.ts";
import type { ParkReason, SessionStatus } from "../../journal/standing.ts";
import type { ListedSession } from "../reports.ts";
import { readBlocked } from "./session-rows.ts";

export const listedColumns = `s.number, s.id, s.key, s.team, s.team_fingerprint, s.identity, s.status, s.reason, s.created_at,
  s.updated_at, s.status_at, s.wake_at, s.model, s.queue, s.priority, s.blocked, coalesce(l.epoch, 0), c.card`;

/** A decoded cursor. */
export interface Place {
  readonly statusAt: number;
  readonly number: number;
}

/** One damaged summary must not hide the others. Its session is reduced from the journal. */
function readCard(card: unknown): SessionCard | undefined {
  try {
    return typeof card === "string" ? (JSON.parse(card) as SessionCard) : undefined;
  } catch {
    return undefined;
  }
}

export function readCursor(cursor: Cursor): Place {
  const [, statusAt, number] = /^(\d{1,15})-(\d{1,15})$/.exec(cursor) ?? [];
  if (statusAt === undefined || number === undefined)
    throw new InputInvalid("The cursor does not belong to this list.", {
      advice: "Use the cursor of the page before.",
    });
  return { statusAt: Number(statusAt), number: Number(number) };
}

export function toListed(row: unknown[]): ListedSession {
  const [number, id, key, team, teamFingerprint, identity, status, reason, ...rest] = row;
  const [createdAt, updatedAt, statusAt, wakeAt, model, queue, priority, blocked, epoch, card] = rest;
  return {
    cursor: `${String(statusAt)}-${String(number)}` as Cursor,
    id: id as SessionId,
    key: (key as string | null) ?? undefined,
    team: team as string,
    teamFingerprint: teamFingerprint as string,
    identity: identity as string,
    status: status as SessionStatus,
    reason: (reason as ParkReason | null) ?? undefined,
    createdAt: createdAt as number,
    updatedAt: updatedAt as number,
    statusAt: statusAt as number,
    wakeAt: (wakeAt as number | null) ?? undefined,
    model: (model as string | null) ?? undefined,
    queue: queue as string,
    priority: priority as number,
    blocked: readBlocked(blocked),
    epoch: epoch as number,
    card: readCard(card),
  };
}
