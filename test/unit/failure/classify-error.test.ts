import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { describe, expect, test } from "vitest";
import * as errors from "../../../src/domain/errors.ts";
import type { FailureCategory } from "../../../src/domain/failure.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";

type Row = readonly [category: FailureCategory, recoverable: boolean, outage?: boolean];

const own: Readonly<Record<errors.ErrorName, Row>> = {
  RecoverableError: ["UNKNOWN", true],
  UnrecoverableError: ["UNKNOWN", false],
  HelpNeeded: ["UNKNOWN", false],
  SessionFailed: ["UNKNOWN", false],
  BudgetExceeded: ["BUDGET", false],
  EffectUnknown: ["UNKNOWN", false],
  DidNotHappen: ["UNKNOWN", true],
  CircuitOpen: ["API_ERROR", true, true],
  SetupFailed: ["RESOURCE", false],
  AttemptTimeout: ["TIMEOUT", true, true],
  StrayError: ["UNKNOWN", true],
  PersonaCrashed: ["UNKNOWN", true],
  ContractUnfulfilled: ["CONTRACT", true],
  GovernanceViolation: ["GOVERNANCE", false],
  CheckpointCorrupt: ["RESOURCE", false],
  JournalCorrupt: ["RESOURCE", false],
  ArtifactCorrupt: ["RESOURCE", false],
  StateCorrupt: ["RESOURCE", false],
  StateTooNew: ["RESOURCE", false],
  StateUnavailable: ["RESOURCE", false],
  StateRemoved: ["RESOURCE", false],
  StorageFailed: ["RESOURCE", false],
  LeaseHeld: ["RESOURCE", false],
  LeaseLost: ["RESOURCE", false],
  SessionNotFound: ["CONTRACT", false],
  SessionConflict: ["CONTRACT", false],
  TeamInvalid: ["CONTRACT", false],
  TeamChanged: ["CONTRACT", false],
  ConfigInvalid: ["CONTRACT", false],
  SandboxUnavailable: ["RESOURCE", false],
  InputInvalid: ["CONTRACT", true],
  NotTrusted: ["GOVERNANCE", false],
  SessionCanceled: ["UNKNOWN", false],
  Interrupted: ["UNKNOWN", true],
};

const classes: Readonly<
  Record<errors.ErrorName, new (message: string, options: errors.MaestroErrorOptions) => Error>
> = errors;

describe("each of Maestro's own errors has its category", () => {
  test.each(Object.entries(own))("%s", (name, [category, recoverable, outage = false]) => {
    const thrown = new classes[name as errors.ErrorName]("it happened", { advice: "Do this." });
    expect(classifyError(thrown)).toMatchObject({ category, recoverable, outage, message: "it happened" });
  });

  test("the advice of the error is the suggested fix", () => {
    const thrown = new errors.BudgetExceeded("spent", { advice: "Raise it with maestro budget." });
    expect(classifyError(thrown).suggestedFix).toBe("Raise it with maestro budget.");
  });

  test("a wrapper's class decides whether to try again, its cause what happened", () => {
    const cause = Object.assign(new Error("getaddrinfo ENOTFOUND api.x.dev"), { code: "ENOTFOUND" });
    expect(classifyError(new errors.UnrecoverableError("3 attempts failed", { cause }))).toMatchObject({
      category: "API_ERROR",
      code: "ENOTFOUND",
      outage: true,
      recoverable: false,
      message: "3 attempts failed: getaddrinfo ENOTFOUND api.x.dev",
    });
    const denied = Object.assign(new Error("no"), { status: 401 });
    expect(classifyError(new errors.RecoverableError("x", { cause: denied }))).toMatchObject({
      category: "AUTH",
      recoverable: true,
    });
  });
});

describe("a code of the system is understood wherever it stands", () => {
  test.each<[string, ...Row]>([
    ["ECONNRESET", "API_ERROR", true, true],
    ["ECONNREFUSED", "API_ERROR", true, true],
    ["ENOTFOUND", "API_ERROR", true, true],
    ["EAI_AGAIN", "API_ERROR", true, true],
    ["UND_ERR_SOCKET", "API_ERROR", true, true],
    ["ETIMEDOUT", "TIMEOUT", true, true],
    ["UND_ERR_HEADERS_TIMEOUT", "TIMEOUT", true, true],
    ["ENOSPC", "RESOURCE", false],
    ["EMFILE", "RESOURCE", true],
    ["ENOMEM", "RESOURCE", true],
    ["EACCES", "AUTH", false],
    ["SELF_SIGNED_CERT_IN_CHAIN", "AUTH", false],
    ["ERR_MODULE_NOT_FOUND", "IMPORT", true],
    ["ENOENT", "CONTRACT", true],
    ["ERR_ASSERTION", "TEST_FAILURE", true],
  ])("%s is %s", (code, category, recoverable, outage = false) => {
    const bare = Object.assign(new Error("it failed"), { code });
    const row = { category, code, recoverable, outage };
    expect(classifyError(bare)).toMatchObject(row);
    expect(classifyError(new TypeError("fetch failed", { cause: bare }))).toMatchObject(row);
    expect(classifyError(new AggregateError([new Error("first"), bare], ""))).toMatchObject(row);
    expect(classifyError({ message: "it failed", code })).toMatchObject(row);
  });

  test("a real refused connection tells what was refused", async () => {
    const thrown: unknown = await fetch("http://127.0.0.1:2/").catch((error: unknown) => error);
    expect(classifyError(thrown)).toMatchObject({
      category: "API_ERROR",
      outage: true,
      code: "ECONNREFUSED",
    });
    expect(classifyError(thrown).message).toMatch(/^fetch failed: connect ECONNREFUSED/);
  });

  test("a real signal that ran out of time is a timeout, never unknown", async () => {
    const signal = AbortSignal.timeout(1);
    const thrown: unknown = await new Promise((resolve) =>
      signal.addEventListener("abort", () => resolve(signal.reason)),
    );
    expect(classifyError(thrown)).toMatchObject({ category: "TIMEOUT", outage: true, recoverable: true });
  });

  test("a real command that fails tells what its output says", async () => {
    const run = promisify(execFile)(process.execPath, ["-e", "const a = ;"]);
    const thrown: unknown = await run.catch((error: unknown) => error);
    expect(classifyError(thrown)).toMatchObject({ category: "SYNTAX", code: "SyntaxError" });
  });

  test("a command that is not installed is named as missing", async () => {
    const thrown: unknown = await promisify(execFile)("no-such-command-here").catch(
      (error: unknown) => error,
    );
    expect(classifyError(thrown)).toMatchObject({ category: "IMPORT", code: "ENOENT" });
  });
});

describe("an error that speaks HTTP is understood by its status, whichever client threw it", () => {
  const http = (status: number, fields: object = {}) =>
    Object.assign(new Error("refused"), { status, ...fields });
  test.each<[number, ...Row]>([
    [400, "API_ERROR", true, false],
    [401, "AUTH", false, false],
    [403, "AUTH", false, false],
    [404, "API_ERROR", false, false],
    [408, "TIMEOUT", true, true],
    [409, "API_ERROR", true, true],
    [425, "API_ERROR", true, true],
    [429, "RATE_LIMIT", true, true],
    [500, "API_ERROR", true, true],
    [504, "TIMEOUT", true, true],
    [529, "API_ERROR", true, true],
  ])("%i is %s", (status, category, recoverable, outage) => {
    expect(classifyError(http(status))).toMatchObject({ category, recoverable, outage });
    expect(classifyError(Object.assign(new Error("x"), { response: { status } }))).toMatchObject({
      category,
    });
  });

  const now = Date.parse("2026-11-15T20:00:00Z");
  test.each<[string, Record<string, string>, number | undefined]>([
    ["seconds", { "retry-after": "7" }, 7000],
    ["any spelling of the header", { "Retry-After": "1.5" }, 1500],
    ["milliseconds", { "retry-after-ms": "250", "retry-after": "9" }, 250],
    ["a date", { "retry-after": "Sun, 15 Nov 2026 20:00:09 GMT" }, 9000],
    [
      "a date by the server's own clock",
      { "retry-after": "Sun, 15 Nov 2026 10:00:09 GMT", date: "Sun, 15 Nov 2026 10:00:00 GMT" },
      9000,
    ],
    ["a date that has passed", { "retry-after": "Sun, 15 Nov 2026 19:00:00 GMT" }, 0],
    ["no more than a day", { "retry-after": "999999999" }, 86_400_000],
    ["nothing where it makes no sense", { "retry-after": "soon" }, undefined],
    ["nothing where it is absent", {}, undefined],
  ])("retry-after is honored: %s", (_, headers, expected) => {
    expect(classifyError(http(429, { headers }), now).retryAfterMs).toBe(expected);
    const response = { status: 429, headers: new Headers(headers) };
    expect(classifyError(Object.assign(new Error("x"), { response }), now).retryAfterMs).toBe(expected);
  });

  test.each<[string, Record<string, string>, number]>([
    [
      "all are used up",
      { "x-ratelimit-remaining": "0", "x-ratelimit-reset": String(now / 1000 + 90) },
      90_000,
    ],
    ["too many at once", { "retry-after": "60", "x-ratelimit-remaining": "4000" }, 60_000],
  ])("GitHub's 403 is a rate limit where it says so (%s): no key is wrong", (_, headers, retryAfterMs) => {
    const limited = { category: "RATE_LIMIT", outage: true, recoverable: true, retryAfterMs };
    expect(classifyError(http(403, { response: { status: 403, headers } }), now)).toMatchObject(limited);
    const allowed = { "x-ratelimit-remaining": "4000", "x-ratelimit-reset": "1794779400" };
    expect(classifyError(http(403, { response: { headers: allowed } }), now)).toMatchObject({
      category: "AUTH",
    });
  });

  test("the wait that OpenAI says in words is honored", () => {
    const said = "Rate limit reached. Please try again in 1m2.5s.";
    expect(classifyError(Object.assign(new Error(said), { status: 429 })).retryAfterMs).toBe(62_500);
  });
});

describe("an error with nothing but its class and words", () => {
  test.each<[unknown, FailureCategory]>([
    [new SyntaxError("Unexpected token '}'"), "SYNTAX"],
    [new TypeError("x is not a function"), "TYPE"],
    [new ReferenceError("x is not defined"), "TYPE"],
    [new Error("Cannot find module './gone.ts'"), "IMPORT"],
    [new Error("the model timed out"), "TIMEOUT"],
    ["request timeout", "TIMEOUT"],
    ["socket hang up", "API_ERROR"],
    [new Error("prompt is too long: 5 tokens > 4 maximum"), "RESOURCE"],
    [Object.assign(new Error("bad"), { name: "ZodError" }), "CONTRACT"],
    [Object.assign(new Error("no object"), { name: "AI_NoObjectGeneratedError" }), "CONTRACT"],
    [Object.assign(new Error("no key"), { name: "AI_LoadAPIKeyError" }), "AUTH"],
    [new Error("the persona is unhappy"), "UNKNOWN"],
    [undefined, "UNKNOWN"],
    [null, "UNKNOWN"],
    [42, "UNKNOWN"],
    [{}, "UNKNOWN"],
    [Symbol("x"), "UNKNOWN"],
  ])("%s is %s", (thrown, category) => {
    expect(classifyError(thrown).category).toBe(category);
    expect(classifyError(thrown).message).not.toBe("");
  });
});

describe("a sentence of the work is about the work", () => {
  const said = [
    "the draft contains a forbidden word",
    "page should say: payment required",
    "Response must be 403 Forbidden",
    "expected 200, got 401 unauthorized",
    "the spec has no rate limit section",
    "button label 'Service unavailable' is missing",
    "no timeout value",
    "the text says 'no space left on device'",
  ];
  test.each(said)("%s", (sentence) => {
    const wrapped = new Error("rejected", { cause: new Error(sentence) });
    for (const thrown of [new Error(sentence), wrapped, sentence]) {
      const failure = classifyError(thrown);
      expect(failure).toMatchObject({ recoverable: true, outage: false });
      expect(failure.category).not.toBe("AUTH");
    }
  });

  test("one of a call to a service is about the service", () => {
    const dependency = "api.example.org";
    const classify = (sentence: string) => classifyError(new Error(sentence), 0, { dependency });
    expect(classify("unauthorized")).toMatchObject({ category: "AUTH", recoverable: false });
    expect(classify("too many requests")).toMatchObject({ category: "RATE_LIMIT", outage: true });
    expect(classify("service unavailable")).toMatchObject({ category: "API_ERROR", outage: true });
  });
});

test("errors built to do harm are classified all the same", () => {
  const circle: Error & { cause?: unknown } = new Error("circle");
  circle.cause = new AggregateError([circle, circle]);
  const trap = new Proxy(
    {},
    {
      get: () => {
        throw new Error("trap");
      },
      has: () => {
        throw new Error("trap");
      },
    },
  );
  let deep: Error = Object.assign(new Error("bottom"), { code: "ENOSPC" });
  for (let depth = 0; depth < 10_000; depth += 1) deep = new Error("layer", { cause: deep });
  for (const thrown of [circle, trap, deep, new Error("x".repeat(5_000_000))]) {
    expect(classifyError(thrown).category).toBe("UNKNOWN");
  }
});

test("keys in messages, bodies and causes never leave the classifier", () => {
  const secret = "sk-ant-api03-abcdefghijklmnop";
  const cause = new Error(`GET https://x.dev/?key=abcdef123 with x-api-key: ${secret}`);
  const thrown = Object.assign(new Error(`Authorization: Bearer ${secret}`, { cause }), {
    statusCode: 500,
    responseBody: `{"authorization":"Bearer ${secret}","api_key":"abcdef123"}`,
  });
  expect(JSON.stringify(classifyError(thrown))).not.toMatch(/sk-ant|abcdef123/);
});
