import type { SessionStatus } from "../api/types.ts";

/** A signal to a session. The page shows only recorded facts, so the signal is pending until its event arrives. */
export type Pending =
  | { readonly kind: "none" }
  | { readonly kind: "sending"; readonly label: string }
  | {
      readonly kind: "waiting";
      readonly label: string;
      readonly since: number;
      /** A mark of the session's state when the signal was sent. */
      readonly was: string;
    }
  | { readonly kind: "failed"; readonly what: string; readonly error: unknown };

/** The facts of a session that a signal changes. */
interface Heard {
  readonly status: SessionStatus;
  readonly since: string;
  readonly limitUsd: number | null;
}

export const nothingPending: Pending = { kind: "none" };

export const markOf = ({ status, since, limitUsd }: Heard): string => `${status} ${since} ${limitUsd ?? ""}`;

/** The event has arrived once the mark has changed. */
export function settle(pending: Pending, now: Heard): Pending {
  return pending.kind === "waiting" && pending.was !== markOf(now) ? nothingPending : pending;
}

const patienceMs = 5000;

/** "Resuming…", then "Still waiting for the server." */
export function pendingText(pending: Pending, now: number): string | undefined {
  if (pending.kind === "sending") return pending.label;
  if (pending.kind !== "waiting") return undefined;
  return now - pending.since < patienceMs ? pending.label : `${pending.label} Still waiting for the server.`;
}
