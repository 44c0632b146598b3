import { expect, test } from "vitest";
import { type CloseReason, EventBatch, frame, SseChannel } from "../../../src/server/sse.ts";

function open() {
  const reasons: CloseReason[] = [];
  const channel = new SseChannel((reason) => reasons.push(reason));
  return { channel, reasons, reader: channel.stream.getReader() };
}

const text = ({ value }: { value?: Uint8Array | undefined }) => new TextDecoder().decode(value);

test("an event is one block of lines, whatever is in its data", () => {
  const data = { text: "a\n\nid: 7\r\nevent: x\ndata: y\u2028" };
  const written = frame("entry", data, 3);
  expect(written.startsWith("id: 3\nevent: entry\ndata: ")).toBe(true);
  expect(written.split("\n")).toHaveLength(5);
  expect(written).not.toContain("\r");
  expect(JSON.parse(written.split("\n")[2]?.slice("data: ".length) ?? "")).toEqual(data);
});

test("events arrive in order, also at a reader that waits", async () => {
  const { channel, reader } = open();
  const waiting = reader.read();
  channel.send("one");
  channel.send("two");
  channel.send("three");
  expect([text(await waiting), text(await reader.read()), text(await reader.read())]).toEqual([
    "one",
    "two",
    "three",
  ]);
  channel.end();
  expect((await reader.read()).done).toBe(true);
});

test("drops a reader for good when two megabytes wait for it", async () => {
  const { channel, reasons, reader } = open();
  const piece = "x".repeat(10_000);
  let sent = 0;
  for (; !channel.isClosed && sent < 1_000; sent += 1) channel.send(piece);
  expect(sent).toBeGreaterThan(200);
  expect(sent).toBeLessThan(220);
  expect(reasons).toEqual(["slow"]);
  channel.send("more");
  expect((await reader.read()).done).toBe(true);
});

test("one event larger than the limit reaches a reader that keeps up", async () => {
  const { channel, reasons, reader } = open();
  channel.send("y".repeat(5_000_000));
  expect((await reader.read()).value?.byteLength).toBe(5_000_000);
  expect(reasons).toEqual([]);
});

test("a replay waits for room in the buffer, and live text is dropped first", async () => {
  const { channel, reader } = open();
  channel.send("x".repeat(200_000));
  channel.sendIfIdle("not worth waiting for");
  const drained = channel.drained();
  expect((await reader.read()).value?.byteLength).toBe(200_000);
  expect(await drained).toBe(true);
  channel.sendIfIdle("now there is room");
  expect(text(await reader.read())).toBe("now there is room");
});

test("a replay ends when its reader leaves", async () => {
  const { channel, reasons, reader } = open();
  channel.send("x".repeat(200_000));
  const drained = channel.drained();
  await reader.cancel();
  expect(await drained).toBe(false);
  expect(reasons).toEqual(["gone"]);
  channel.end();
  expect(reasons).toHaveLength(1);
});

test("encodes a batch once for readers at its start, and cuts it for readers further on", () => {
  const compare = (one: number, other: number) => one - other;
  const events = [
    { id: 4, text: "four " },
    { id: 5, text: "five " },
    { id: 9, text: "nine" },
  ];
  const batch = new EventBatch<number>(events, compare);
  const read = (bytes: Uint8Array | undefined) => bytes && new TextDecoder().decode(bytes);
  expect(batch.after(3)).toBe(batch.after(0));
  expect(read(batch.after(3))).toBe("four five nine");
  expect(read(batch.after(4))).toBe("five nine");
  expect(read(batch.after(8))).toBe("nine");
  expect(batch.after(9)).toBeUndefined();
  expect(batch.last).toBe(9);
  expect(new EventBatch<number>([], compare).after(0)).toBeUndefined();
});
