import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { EventStream, type StreamEvent } from "../../../dashboard/src/api/event-stream.ts";
import { type Connection, isStale, reconnectDelayMs } from "../../../dashboard/src/api/reconnect.ts";

class FakeSource {
  readonly url: string;
  closed = false;
  readonly #listeners = new Map<string, ((event: { data: string; lastEventId: string }) => void)[]>();

  constructor(url: string) {
    this.url = url;
  }
  addEventListener(name: string, listener: (event: { data: string; lastEventId: string }) => void): void {
    this.#listeners.set(name, [...(this.#listeners.get(name) ?? []), listener]);
  }
  close(): void {
    this.closed = true;
  }
  send(name: string, data: unknown, id = ""): void {
    const text = typeof data === "string" ? data : JSON.stringify(data);
    for (const listener of this.#listeners.get(name) ?? []) listener({ data: text, lastEventId: id });
  }
}

function setUp(isSignedOut = async () => false) {
  const sources: FakeSource[] = [];
  const frames: (() => void)[] = [];
  const batches: (readonly StreamEvent[])[] = [];
  const states: Connection[] = [];
  let resets = 0;
  const stream = new EventStream(
    {
      open: (url) => {
        const source = new FakeSource(url);
        sources.push(source);
        return source;
      },
      now: () => Date.now(),
      setTimer: (run, delayMs) => setTimeout(run, delayMs),
      clearTimer: (timer) => clearTimeout(timer as NodeJS.Timeout),
      nextFrame: (run) => frames.push(run),
      isSignedOut,
    },
    {
      onEvents: (events) => batches.push(events),
      onConnection: (state) => states.push(state),
      onReset: () => {
        resets += 1;
      },
    },
  );
  const last = () => sources.at(-1) as FakeSource;
  const hello = (replay: number | null = 0, instance = "one") =>
    last().send("hello", { now: "2026-11-15T00:00:00Z", instance, replay });
  const frame = () => {
    for (const run of frames.splice(0)) run();
  };
  return { stream, sources, batches, states, last, hello, frame, resets: () => resets };
}

const entry = (seq: number) => ({ seq, kind: "phase.started" });

beforeEach(() => {
  vi.useFakeTimers();
});
afterEach(() => {
  vi.useRealTimers();
});

test("whatever arrives between two frames is handed over once, in order", () => {
  const { stream, batches, last, hello, frame } = setUp();
  stream.follow("/v1/sessions/x/events", "10");
  expect(last().url).toBe("/v1/sessions/x/events?after=10");
  hello();
  last().send("entry", entry(11), "11");
  last().send("entry", entry(12), "12");
  expect(batches).toHaveLength(0);
  frame();
  expect(batches).toHaveLength(1);
  expect(batches[0]?.map(({ event }) => event)).toEqual(["hello", "entry", "entry"]);
});

test("a lost connection is tried again after 1, 2, 4, 8 and 8 s, from the last number it saw", () => {
  const { stream, sources, states, last, hello } = setUp();
  stream.follow("/v1/events", undefined);
  hello();
  last().send("session", {}, "41");
  for (const seconds of [1, 2, 4, 8, 8]) {
    const before = sources.length;
    last().send("error", "");
    expect(states.at(-1)).toMatchObject({ kind: "lost", retryAt: Date.now() + seconds * 1000 });
    vi.advanceTimersByTime(seconds * 1000 - 1);
    expect(sources).toHaveLength(before);
    vi.advanceTimersByTime(1);
    expect(sources).toHaveLength(before + 1);
    expect(last().url).toBe("/v1/events?after=41");
  }
  expect([1, 2, 3, 4, 9].map(reconnectDelayMs)).toEqual([1000, 2000, 4000, 8000, 8000]);
});

test("back: says how many events were caught up, and the next loss starts again at 1 s", () => {
  const { stream, states, last, hello, resets } = setUp();
  stream.follow("/v1/events", "5");
  hello();
  last().send("error", "");
  vi.advanceTimersByTime(1000);
  hello(37);
  expect(states.at(-1)).toMatchObject({ kind: "back", caughtUp: 37, restarted: false });
  expect(resets()).toBe(0);
  last().send("error", "");
  expect(states.at(-1)).toMatchObject({ kind: "lost", failures: 1 });
});

test("when the server restarted or cannot say what was missed, everything is asked for again", () => {
  const { stream, states, last, hello, resets } = setUp();
  stream.follow("/v1/events", "5");
  hello();
  last().send("error", "");
  vi.advanceTimersByTime(1000);
  hello(0, "two");
  expect(states.at(-1)).toMatchObject({ kind: "back", restarted: true });
  expect(resets()).toBe(1);
  last().send("error", "");
  vi.advanceTimersByTime(1000);
  hello(null, "two");
  expect(states.at(-1)).toMatchObject({ kind: "back", caughtUp: null });
  expect(resets()).toBe(2);
});

test("another persona's text on the same session goes on from where it was; another session starts anew", () => {
  const { stream, sources, last, hello, resets } = setUp();
  stream.follow("/v1/sessions/a/events", "3");
  hello();
  last().send("entry", entry(9), "9");
  stream.follow("/v1/sessions/a/events?text=p%2Fq", "3");
  expect(sources[0]?.closed).toBe(true);
  expect(last().url).toBe("/v1/sessions/a/events?text=p%2Fq&after=9");
  hello();
  stream.follow("/v1/sessions/b/events", "1");
  expect(last().url).toBe("/v1/sessions/b/events?after=1");
  hello();
  expect(resets()).toBe(0);
});

test("an abandoned connection reports nothing", () => {
  const { stream, sources, batches, hello, frame } = setUp();
  stream.follow("/v1/sessions/a/events", "3");
  hello();
  frame();
  stream.follow("/v1/sessions/b/events", "1");
  sources[0]?.send("entry", entry(99), "99");
  sources[0]?.send("error", "");
  frame();
  expect(batches.flat().filter(({ event }) => event === "entry")).toEqual([]);
  expect(sources).toHaveLength(2);
});

test("distinguishes a server that refuses from one that is gone, until it accepts the browser again", async () => {
  let signedOut = true;
  const { stream, states, last, hello } = setUp(async () => signedOut);
  stream.follow("/v1/events", "7");
  last().send("error", "");
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ kind: "lost", signedOut: true }), 60_000);
  vi.advanceTimersByTime(reconnectDelayMs(1));
  expect(states.at(-1)).toMatchObject({ kind: "lost", signedOut: true, retryAt: null });
  signedOut = false;
  last().send("error", "");
  await vi.waitFor(() => expect(states.at(-1)).toMatchObject({ kind: "lost", signedOut: false }), 60_000);
  vi.advanceTimersByTime(reconnectDelayMs(2));
  hello(3);
  expect(states.at(-1)).toMatchObject({ kind: "back", caughtUp: 3 });
});

test("a hidden tab gives its connection back and goes on without a gap", () => {
  const { stream, sources, states, last, hello } = setUp();
  stream.follow("/v1/events", "5");
  hello();
  last().send("session", {}, "6");
  stream.rest();
  expect(sources[0]?.closed).toBe(true);
  expect(states.at(-1)).toEqual({ kind: "resting" });
  stream.wake();
  expect(last().url).toBe("/v1/events?after=6");
});

test("damaged data is left out and does not stop the stream", () => {
  const { stream, batches, last, hello, frame } = setUp();
  stream.follow("/v1/events", undefined);
  hello();
  last().send("entry", "{not json");
  last().send("entry", entry(2), "2");
  frame();
  expect(batches.flat().map(({ event }) => event)).toEqual(["hello", "entry"]);
});

test("a loss shorter than a second is not worth a word", () => {
  const lost: Connection = { kind: "lost", lostAt: 1000, retryAt: 2000, failures: 1, signedOut: false };
  expect([isStale(lost, 1999), isStale(lost, 2000), isStale({ kind: "live" }, 9999)]).toEqual([
    false,
    true,
    false,
  ]);
});
