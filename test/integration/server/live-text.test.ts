import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { newSessionId } from "../../../src/domain/ids.ts";
import { Chronicle } from "../../../src/journal/chronicle.ts";
import { emptyState } from "../../../src/journal/session-state.ts";
import { LiveText } from "../../../src/server/feed/live-text.ts";
import type { StreamEvents } from "../../../src/server/schemas/events.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

function listening() {
  const said: StreamEvents["text"][] = [];
  const of = { state: emptyState(newSessionId()), chronicle: new Chronicle() };
  const text = new LiveText((piece) => said.push(piece));
  return { said, hear: (persona: string, delta: string) => text.hear(persona, delta, 1_000, of), text };
}

test("joins a thousand pieces within a tenth of a second into one", () => {
  const { said, hear } = listening();
  for (let count = 0; count < 1_000; count += 1) hear("writer", "ab");
  expect(said).toEqual([]);
  vi.advanceTimersByTime(100);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatchObject({
    persona: "writer",
    delta: "ab".repeat(1_000),
    call: "model#1",
    outputTokens: 500,
  });
  vi.advanceTimersByTime(1_000);
  expect(said).toHaveLength(1);
});

test("text of a recorded step is not sent as text of the next call", () => {
  const { said, hear, text } = listening();
  hear("writer", "first");
  text.recorded("writer");
  hear("writer", "second");
  vi.advanceTimersByTime(100);
  expect(said.map(({ delta }) => delta)).toEqual(["second"]);
});

test("keeps the text of concurrent personas apart", () => {
  const { said, hear } = listening();
  hear("one", "a");
  hear("two", "b");
  hear("one", "c");
  vi.advanceTimersByTime(100);
  expect(said.map(({ persona, delta }) => [persona, delta])).toEqual([
    ["one", "ac"],
    ["two", "b"],
  ]);
});

test("bounds the stored text of a model that never stops", () => {
  const { said, hear } = listening();
  for (let count = 0; count < 200; count += 1) hear("writer", "x".repeat(10_000));
  vi.advanceTimersByTime(100);
  expect(said[0]?.delta.length).toBeLessThanOrEqual(64 * 1024);
});
