import { describe, expect, test } from "vitest";
import { toErrorJson } from "../../../src/domain/error-json.ts";
import { HelpNeeded, InputInvalid } from "../../../src/domain/errors.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import {
  type FromChild,
  fromThrown,
  lineOf,
  MessageReader,
  MessageTooLong,
  toThrown,
} from "../../../src/run/isolation/protocol.ts";

describe("messages between the server and the process of a function", () => {
  test("arrive whole and in order, wherever their bytes are cut", () => {
    const messages: FromChild[] = [
      { kind: "log", message: 'é 😀 \n "quoted" \\' },
      { kind: "text", delta: "\u2028" },
      { kind: "progress" },
    ];
    const bytes = Buffer.from(messages.map(lineOf).join(""));
    for (const size of [1, 2, 3, 5, bytes.length]) {
      const reader = new MessageReader<FromChild>();
      const read: FromChild[] = [];
      for (let at = 0; at < bytes.length; at += size)
        for (const { message } of reader.read(bytes.subarray(at, at + size))) read.push(message);
      expect(read).toEqual(messages);
    }
  });

  test("are refused when they are no JSON", () => {
    expect(() => [...new MessageReader().read(Buffer.from("{\n"))]).toThrow("not valid JSON");
  });

  test("are measured in bytes, one by one, and refused above the limit before they are whole", () => {
    const reader = new MessageReader(8);
    expect([...reader.read(Buffer.from('"é"\n"12345'))]).toEqual([{ message: "é", bytes: 4 }]);
    expect([...reader.read(Buffer.from('6"\n'))]).toEqual([{ message: "123456", bytes: 8 }]);
    expect(() => [...reader.read(Buffer.from('"1234567"'))]).toThrow(MessageTooLong);
  });
});

describe("an error that crosses to another process", () => {
  const cause = Object.assign(new TypeError("fetch failed"), { code: "ECONNRESET" });
  test.each([
    ["of Node", Object.assign(new Error("no file"), { code: "ENOENT", errno: -2 })],
    ["with a cause", new Error("outer", { cause })],
    ["of several", new AggregateError([cause, new RangeError("b")], "several")],
    ["of Maestro", new HelpNeeded("a person must", { details: { a: [1] }, advice: "Do it.", cause })],
    ["with a command as advice", new InputInvalid("no", { advice: { text: "Do", command: ["run", "a b"] } })],
    [
      "with a status",
      Object.assign(new Error("busy"), { statusCode: 429, responseHeaders: { "retry-after": "7" } }),
    ],
    ["that is no error", { statusCode: 503, message: "a value" }],
    ["that is a text", "only a text"],
  ])("keeps its class, code, causes and classification: %s", (_, error) => {
    const failure = classifyError(error);
    const crossed = fromThrown(JSON.parse(JSON.stringify(toThrown(error, failure))));
    expect(toErrorJson(crossed)).toEqual(toErrorJson(error));
    expect(classifyError(crossed)).toEqual(failure);
    expect(crossed instanceof Error).toBe(error instanceof Error);
  });
});
