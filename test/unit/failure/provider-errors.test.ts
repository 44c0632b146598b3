import { describe, expect, test } from "vitest";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { errorOf, fixtureNames } from "./fixtures.ts";

type Row = readonly [
  category: string,
  code: string,
  next: "outage" | "again" | "person",
  retryAfterMs?: number,
];

/** The error that every provider package throws for the same fault. */
const everywhere: Readonly<Record<string, Row>> = {
  reset: ["API_ERROR", "ECONNRESET", "outage"],
  refused: ["API_ERROR", "ECONNREFUSED", "outage"],
  "half-body": ["API_ERROR", "UND_ERR_SOCKET", "outage"],
  "stream-cut": ["API_ERROR", "UND_ERR_SOCKET", "outage"],
  garbage: ["API_ERROR", "invalid_response", "outage"],
  "wrong-shape": ["API_ERROR", "invalid_response", "outage"],
  timeout: ["TIMEOUT", "TimeoutError", "outage"],
  aborted: ["TIMEOUT", "AbortError", "outage"],
  "400-context": ["RESOURCE", "context_length_exceeded", "again"],
  "400": ["API_ERROR", "400", "again"],
  "403": ["AUTH", "403", "person"],
  "404": ["API_ERROR", "model_not_found", "person"],
  "408": ["TIMEOUT", "408", "outage"],
  "409": ["API_ERROR", "409", "outage"],
  "500": ["API_ERROR", "500", "outage"],
  "502": ["API_ERROR", "502", "outage"],
  "529": ["API_ERROR", "529", "outage"],
};

/** Where providers differ. */
const special: Readonly<Record<string, Row>> = {
  "openai/401": ["AUTH", "invalid_api_key", "person"],
  "openai/429": ["RATE_LIMIT", "429", "outage", 7000],
  "openai/429-quota": ["AUTH", "insufficient_quota", "person"],
  "openai/503": ["API_ERROR", "503", "outage", 120_000],
  "openai/stream-error": ["API_ERROR", "500", "outage"],
  "anthropic/401": ["AUTH", "invalid_api_key", "person"],
  "anthropic/413": ["RESOURCE", "context_length_exceeded", "again"],
  "anthropic/429": ["RATE_LIMIT", "429", "outage", 30_000],
  "anthropic/400-credit": ["AUTH", "insufficient_quota", "person"],
  "anthropic/stream-error": ["API_ERROR", "529", "outage"],
  "google/400-key": ["AUTH", "invalid_api_key", "person"],
  "google/429": ["RATE_LIMIT", "429", "outage", 13_000],
  "google/429-quota": ["RATE_LIMIT", "429", "outage", 27_000],
  "google/503": ["API_ERROR", "503", "outage"],
  "google/stream-error": ["API_ERROR", "503", "outage"],
  "compatible/401": ["AUTH", "401", "person"],
  "compatible/402": ["AUTH", "insufficient_quota", "person"],
  "compatible/429": ["RATE_LIMIT", "429", "outage"],
  "compatible/stream-error": ["API_ERROR", "502", "outage"],
};

describe("an error of a real provider package is understood", () => {
  test.each(fixtureNames("providers"))("%s", (name) => {
    const [, provider = "", fault = ""] = name.split("/");
    const row = special[`${provider}/${fault}`] ?? everywhere[fault];
    if (row === undefined) throw new Error(`${name} is in no table`);
    const [category, code, next, retryAfterMs] = row;
    const failure = classifyError(errorOf(name));
    expect(failure).toMatchObject({
      category,
      code,
      outage: next === "outage",
      recoverable: next !== "person",
      source: "error",
    });
    expect(failure.retryAfterMs).toBe(retryAfterMs);
  });
});

test("no row of the tables lacks an error that its package threw", () => {
  const names = fixtureNames("providers").map((name) => name.slice("providers/".length));
  expect(Object.keys(special).filter((name) => !names.includes(name))).toEqual([]);
  const faults = new Set(names.map((name) => name.split("/")[1]));
  expect(Object.keys(everywhere).filter((fault) => !faults.has(fault))).toEqual([]);
});

test("the key that OpenAI repeats in its answer reaches neither message nor details", () => {
  const { message, details } = classifyError(errorOf("providers/openai/401"));
  expect(message).toContain("Incorrect API key provided: [redacted]");
  expect(`${message}${details}`).not.toContain("sk-proj");
});

test("a server's own words are told where the package only says Bad Request", () => {
  expect(classifyError(errorOf("providers/compatible/404")).message).toBe(
    "Not Found: model 'llama9' not found",
  );
});
