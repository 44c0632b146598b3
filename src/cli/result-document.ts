import type { SessionResult } from "../index.ts";

export type ResultDocument = ReturnType<typeof resultDocument>;

/** The result of a drive for programs. Every outcome has the same keys. */
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
