import { expect, it } from "vitest";
import type { JsonObject } from "../../../src/domain/json.ts";
import type { SentCall } from "../../../src/journal/journal.ts";
import { SentCalls } from "../../../src/run/sent-calls.ts";

const message = (text: string): JsonObject => ({ role: "user", content: text });
const long = "x".repeat(5_000);

/** Sends and records calls one after the other: the JSON of each, and the blobs that were written. */
class Sending {
  readonly blobs: string[] = [];
  readonly calls = new SentCalls(async (text) => this.blobs.push(text));
  #count = 0;

  async send(prompt: readonly string[], more: JsonObject = {}, body = "{}"): Promise<SentCall> {
    const sending = await this.calls.send({ input: { model: "m", prompt: prompt.map(message), ...more } });
    this.#count += 1;
    this.calls.recorded(`call-${this.#count}`, sending, body);
    return JSON.parse(sending.sent) as SentCall;
  }
}

it("writes a message of a conversation once", async () => {
  const sending = new Sending();
  expect(await sending.send(["a", "b"])).toEqual({
    add: [message("a"), message("b")],
    settings: { model: "m" },
  });
  expect(await sending.send(["a", "b", "c"])).toEqual({ after: "call-1", keep: 2, add: [message("c")] });
  expect(await sending.send(["a", "B"])).toEqual({ after: "call-2", keep: 1, add: [message("B")] });
});

it("stores a long message as a blob, and does not store it again", async () => {
  const sending = new Sending();
  const { add } = await sending.send([long]);
  expect(add).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/)]);
  await sending.send([long, "b"]);
  expect(sending.blobs).toEqual([JSON.stringify(message(long))]);
});

it("stores many short messages as one blob, so that the row stays short", async () => {
  const sending = new Sending();
  const { add } = await sending.send(Array.from({ length: 100 }, (_, at) => `${at} ${"y".repeat(1_000)}`));
  expect(add).toMatch(/^[0-9a-f]{64}$/);
  expect(sending.blobs).toHaveLength(1);
});

it("names tools and settings only when they change", async () => {
  const sending = new Sending();
  const tools = [{ name: "look" }];
  expect(await sending.send(["a"], { tools })).toMatchObject({ tools, settings: { model: "m" } });
  const same = await sending.send(["a", "b"], { tools });
  expect(same).not.toHaveProperty("tools");
  expect(same).not.toHaveProperty("settings");
  expect(await sending.send(["a", "b"])).toMatchObject({ tools: null });
  expect(await sending.send(["a", "b"], { temperature: 1 })).toMatchObject({
    settings: { model: "m", temperature: 1 },
  });
});

it("continues the right one of several parallel conversations", async () => {
  const sending = new Sending();
  await sending.send(["one", "a"]);
  await sending.send(["two", "a"]);
  expect(await sending.send(["one", "a", "b"])).toMatchObject({ after: "call-1", keep: 2 });
  expect(await sending.send(["two", "a", "b"])).toMatchObject({ after: "call-2", keep: 2 });
});

it("refers to no call that failed", async () => {
  const sending = new Sending();
  await sending.send(["a"], {}, '{"error":{}}');
  expect(await sending.send(["a"])).not.toHaveProperty("after");
});

it("continues the last call that was replayed", async () => {
  const { calls } = new Sending();
  const replayed = { kind: "model", input: { model: "m", prompt: [message("a")] } } as const;
  calls.replayed(replayed, "recorded", '{"result":{}}');
  calls.replayed({ kind: "model", input: { prompt: [] } }, "failed", '{"outage":true,"error":{}}');
  const { sent } = await calls.send({ input: { model: "m", prompt: [message("a"), message("b")] } });
  expect(JSON.parse(sent)).toEqual({ after: "recorded", keep: 1, add: [message("b")] });
});

it("refuses a message that is too long for a blob", async () => {
  const { calls } = new Sending();
  const prompt = [message("z".repeat(64 * 1024 * 1024))];
  await expect(calls.send({ input: { prompt } })).rejects.toMatchObject({ code: "INPUT_INVALID" });
});
