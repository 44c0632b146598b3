import { expect, test } from "vitest";
import { type ErrorJson, fromErrorJson, toErrorJson } from "../../../src/domain/error-json.ts";
import {
  BudgetExceeded,
  HelpNeeded,
  RecoverableError,
  UnrecoverableError,
} from "../../../src/domain/errors.ts";

const throughJson = (error: unknown): Error =>
  fromErrorJson(JSON.parse(JSON.stringify(toErrorJson(error))) as ErrorJson);

test("class, code, details, advice and cause survive the journal", () => {
  const system = Object.assign(new TypeError("reset"), {
    code: "ECONNRESET",
    cause: Object.assign(new Error("the command failed"), { code: 127 }),
  });
  const error = new BudgetExceeded("over", { details: { limit: 5 }, advice: "Raise it.", cause: system });
  const restored = throughJson(error);
  expect(restored).toBeInstanceOf(BudgetExceeded);
  expect(restored).toMatchObject({ code: "BUDGET_EXCEEDED", details: { limit: 5 }, advice: "Raise it." });
  expect(restored.cause).toBeInstanceOf(Error);
  expect(restored.cause).toMatchObject({ name: "TypeError", code: "ECONNRESET", message: "reset" });
  expect((restored.cause as Error).cause).toMatchObject({ code: 127, message: "the command failed" });
  expect(toErrorJson(restored)).toEqual(toErrorJson(error));
});

test("every failure of an unrecoverable error survives, errors within details too", () => {
  const failures = [
    { attempt: 1, error: new RecoverableError("a", { cause: new Error("b") }) },
    { attempt: 2 },
  ];
  const restored = throughJson(
    new UnrecoverableError("all failed", { details: { failures } }),
  ) as UnrecoverableError;
  expect(restored.details).toMatchObject({
    failures: [
      { attempt: 1, error: { code: "RECOVERABLE", message: "a", cause: { message: "b" } } },
      { attempt: 2 },
    ],
  });
});

test("an aggregate keeps all of its errors", () => {
  const restored = throughJson(new AggregateError([new HelpNeeded("one"), new RangeError("two")], "both"));
  expect(restored).toBeInstanceOf(AggregateError);
  const { errors } = restored as AggregateError;
  expect(errors[0]).toBeInstanceOf(HelpNeeded);
  expect(errors[1]).toMatchObject({ name: "RangeError", message: "two" });
});

test("no stack and no machine path is written", () => {
  const text = JSON.stringify(new HelpNeeded("x", { cause: new Error("y") }));
  expect(text).not.toContain("stack");
  expect(text).not.toContain(import.meta.dirname);
});

test("a thrown value that is not an error is kept and named", () => {
  expect(toErrorJson("boom")).toMatchObject({ name: "ThrownValue", thrown: "boom" });
  expect(toErrorJson("boom").message).toContain('"boom"');
  expect(toErrorJson({ status: 500 })).toMatchObject({ thrown: { status: 500 } });
  expect(toErrorJson(undefined)).toMatchObject({ thrown: null });
  expect(toErrorJson(undefined).message).toContain("undefined");
  expect(toErrorJson(Symbol("s")).message).toContain("symbol");
  const restored = throughJson({ status: 500 });
  expect(restored).toBeInstanceOf(Error);
  expect(toErrorJson(restored)).toEqual(toErrorJson({ status: 500 }));
});

test("causes that form a ring and chains without end are bounded", () => {
  const ring = new Error("ring");
  ring.cause = new HelpNeeded("middle", { cause: ring });
  expect(JSON.stringify(toErrorJson(ring))).toContain("[cycle]");
  let chain = new Error("0");
  for (let link = 1; link < 10_000; link += 1) chain = new Error(String(link), { cause: chain });
  let depth = 0;
  for (let json: ErrorJson | undefined = toErrorJson(chain); json; json = json.cause) depth += 1;
  expect(depth).toBe(9);
});

test("a message is cut at 16 KiB, visibly and not within a character", () => {
  for (const character of ["x", "é", "😀"]) {
    const { message } = toErrorJson(new Error(character.repeat(20_000)));
    expect(Buffer.byteLength(message)).toBeLessThanOrEqual(16 * 1024);
    expect(Buffer.byteLength(message)).toBeGreaterThan(16 * 1024 - 20);
    expect(message.replaceAll(character, "")).toBe("… (cut)");
  }
  const whole = "x".repeat(16 * 1024);
  expect(toErrorJson(new Error(whole)).message).toBe(whole);
});

test("details are made safe for JSON", () => {
  const ring: Record<string, unknown> = { big: 12n, run: () => 1, when: new Date(0), nan: Number.NaN };
  ring.self = ring;
  ring.bytes = new Uint8Array(3);
  ring.list = [undefined, () => 1];
  const { details } = toErrorJson(new HelpNeeded("x", { details: { ring } }));
  expect(details).toEqual({
    ring: {
      big: "12",
      when: "1970-01-01T00:00:00.000Z",
      nan: "NaN",
      self: "[cycle]",
      bytes: "[3 bytes]",
      list: [null, null],
    },
  });
});

test("Maps and Sets in details keep their content", () => {
  const counts = new Map<string, unknown>([
    ["tests", 3],
    ["files", new Set(["a.ts", "b.ts"])],
    ["__proto__", "a key like any other"],
  ]);
  const pairs = new Map<unknown, unknown>([
    [1, "one"],
    ["1", "also one"],
  ]);
  const error = new RecoverableError("failed", { details: { counts, pairs, empty: new Map() } });
  const { details } = toErrorJson(error);
  expect(JSON.stringify(details)).toBe(
    JSON.stringify({
      counts: JSON.parse('{"tests":3,"files":["a.ts","b.ts"],"__proto__":"a key like any other"}') as unknown,
      pairs: [
        [1, "one"],
        ["1", "also one"],
      ],
      empty: {},
    }),
  );
});

test("a Map that is itself the details keeps its content", () => {
  const details = new Map<string, unknown>([["tests", 3]]) as never;
  expect(toErrorJson(new RecoverableError("failed", { details })).details).toEqual({ tests: 3 });
});

test("a Map or a Set without end is cut visibly", () => {
  const many = Array.from({ length: 20_000 }, (_, index) => [`key ${index}`, index] as const);
  const { details } = toErrorJson(
    new RecoverableError("failed", { details: { all: new Map(many), first: new Set(many) } }),
  );
  expect(JSON.stringify(details)).toContain("(cut)");
  expect(Object.keys((details as { all: object }).all).length).toBeLessThan(10_001);
});

test("details of any depth and size stay small", () => {
  let deep: unknown = 1;
  for (let level = 0; level < 10_000; level += 1) deep = [deep];
  const wide = Array.from({ length: 1_000_000 }, (_, index) => index);
  const long = Array.from({ length: 1000 }, () => "x".repeat(100_000));
  for (const value of [deep, wide, long]) {
    const text = JSON.stringify(new HelpNeeded("x", { details: { value } }));
    expect(text.length).toBeLessThan(2_000_000);
    expect(text).toMatch(/too deep|cut/);
  }
});

test("an error that throws when it is read is still written", () => {
  const hostile = new Error("x");
  for (const key of ["message", "cause", "code", "name"]) {
    Object.defineProperty(hostile, key, {
      get() {
        throw new Error("no");
      },
    });
  }
  expect(toErrorJson(hostile)).toEqual({ name: "Error", message: "" });
  const throwing = () => {
    throw new Error("no");
  };
  const proxy = new Proxy({}, { get: throwing, has: throwing, ownKeys: throwing, getPrototypeOf: throwing });
  expect(toErrorJson(proxy).name).toBe("ThrownValue");
  expect(toErrorJson(new HelpNeeded("x", { details: { proxy } })).details).toEqual({ proxy: {} });
});

test("a code of a newer version is restored as a plain error with its message", () => {
  const restored = fromErrorJson({ name: "Newer", code: "NEWER", message: "m", details: {} });
  expect(restored).toMatchObject({ name: "Newer", code: "NEWER", message: "m" });
});
