import type { SessionResult } from "../index.ts";

export type ResultDocument = ReturnType<typeof resultDocument>;

/** How a drive ended, for programs: the same keys whatever the end was. */
export function resultDocument({ id, status, reason, error, wakeAt, ...rest }: SessionResult) {
  return {
    id,
    status,
    reason: reason ?? null,
    error: error ?? null,
    wakeAt: wakeAt === undefined ? null : new Date(wakeAt).toISOString(),
    ...rest,
  };
}
