import { ApiError } from "../api/api-error.ts";
import { client } from "../api/client.ts";
import { EventStream, type StreamEvent } from "../api/event-stream.ts";
import { backShownMs, type Connection, hiddenAfterMs } from "../api/reconnect.ts";
import { serverNow, setServerTime } from "./clock.ts";
import { Store } from "./store.ts";

/** The one connection of this tab and its state. */
export const connection = new Store<Connection>({ kind: "connecting" });

type Handler = (events: readonly StreamEvent[]) => void;
const handlers = new Set<Handler>();
const resets = new Set<() => void>();

export const stream = new EventStream(
  {
    open: (url) => new EventSource(url, { withCredentials: true }),
    now: serverNow,
    setTimer: (run, delayMs) => setTimeout(run, delayMs),
    clearTimer: (timer) => clearTimeout(timer as ReturnType<typeof setTimeout>),
    nextFrame: (run) => {
      // A hidden tab draws no frames, and its queue must not grow without limit.
      if (document.hidden) setTimeout(run, 250);
      else requestAnimationFrame(run);
    },
    isSignedOut: () =>
      client.status().then(
        () => false,
        (error: unknown) => error instanceof ApiError && error.status === 401,
      ),
  },
  {
    onEvents: (events) => {
      for (const { event, data } of events) if (event === "hello") setServerTime(Date.parse(data.now));
      for (const handler of handlers) handler(events);
    },
    onConnection: (next) => {
      // After a short loss that was never shown, the connection is simply live.
      connection.set(next.kind === "back" && next.at - next.lostAt < 1000 ? { kind: "live" } : next);
      if (next.kind === "back") setTimeout(() => forgetBack(next), backShownMs);
    },
    onReset: () => {
      for (const reset of resets) reset();
    },
  },
);

function forgetBack(shown: Connection): void {
  if (connection.get() === shown) connection.set({ kind: "live" });
}

export function onStreamEvents(handler: Handler): () => void {
  handlers.add(handler);
  return () => handlers.delete(handler);
}

/** Called when events may have been missed. */
export function onStreamReset(reset: () => void): () => void {
  resets.add(reset);
  return () => resets.delete(reset);
}

/** Closes the connection of a hidden tab and reconnects when the tab is shown. */
export function watchVisibility(): void {
  let timer: ReturnType<typeof setTimeout> | undefined;
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(() => stream.rest(), hiddenAfterMs);
    else stream.wake();
  });
  addEventListener("online", () => {
    if (connection.get().kind === "lost") stream.retry();
  });
}
