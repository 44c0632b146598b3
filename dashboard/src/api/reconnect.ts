/** Waits between tries: 1, 2, 4, 8 s, then always 8. */
export function reconnectDelayMs(failures: number): number {
  return Math.min(8000, 1000 * 2 ** Math.max(0, failures - 1));
}

/** A hidden tab closes its connection after this long, because HTTP/1.1 allows a browser six. */
export const hiddenAfterMs = 30_000;

/** A connection that returns within this time is not reported as lost. */
const unnoticedMs = 1000;

/** "Back." stays this long. */
export const backShownMs = 8000;

export type Connection =
  | { readonly kind: "connecting" }
  | { readonly kind: "live" }
  /** The tab is hidden; nothing is wrong. */
  | { readonly kind: "resting" }
  | {
      readonly kind: "lost";
      readonly lostAt: number;
      /** null: trying now. */
      readonly retryAt: number | null;
      readonly failures: number;
      /** The server answers but does not know this browser (any more). */
      readonly signedOut: boolean;
    }
  | {
      readonly kind: "back";
      readonly at: number;
      readonly lostAt: number;
      readonly caughtUp: number | null;
      readonly restarted: boolean;
    };

/** Whether the shown data may be outdated. */
export function isStale(connection: Connection, now: number): boolean {
  return connection.kind === "lost" && now - connection.lostAt >= unnoticedMs;
}
