import type { SessionStatus } from "../api/types.ts";

/** Something a person said. The page shows what the journal says, so the word waits until its event arrives. */
export type Pending =
  | { readonly kind: "none" }
  | { readonly kind: "sending"; readonly label: string }
  | {
      readonly kind: "waiting";
      readonly label: string;
      readonly since: number;
      /** What the session was when it was said. */
      readonly was: string;
    }
  | { readonly kind: "failed"; readonly what: string; readonly error: unknown };

/** What has to change before a word counts as heard. */
export interface Heard {
  readonly status: SessionStatus;
  readonly since: string;
  readonly limitUsd: number | null;
}

export const nothingPending: Pending = { kind: "none" };

export const markOf = ({ status, since, limitUsd }: Heard): string => `${status} ${since} ${limitUsd ?? ""}`;

/** The event has arrived when the session is no longer what it was. */
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
