import { describe, expect, test } from "vitest";
import { classifyError } from "../../../src/run/failure/classify-error.ts";

type Row = readonly [category: string, next: "outage" | "again" | "person"];

const judged = (error: unknown): Row => {
  const { category, outage, recoverable } = classifyError(error);
  return [category, outage ? "outage" : recoverable ? "again" : "person"];
};

/** As @grpc/grpc-js makes them. */
const grpc = (code: number, name: string, details = "it says") =>
  Object.assign(new Error(`${code} ${name}: ${details}`), { code, details, metadata: {} });

describe("a status of gRPC says what its HTTP status would say", () => {
  test.each<[number, string, ...Row]>([
    [1, "CANCELLED", "TIMEOUT", "outage"],
    [2, "UNKNOWN", "API_ERROR", "outage"],
    [3, "INVALID_ARGUMENT", "API_ERROR", "again"],
    [4, "DEADLINE_EXCEEDED", "TIMEOUT", "outage"],
    [5, "NOT_FOUND", "API_ERROR", "person"],
    [6, "ALREADY_EXISTS", "API_ERROR", "again"],
    [7, "PERMISSION_DENIED", "AUTH", "person"],
    [8, "RESOURCE_EXHAUSTED", "RATE_LIMIT", "outage"],
    [9, "FAILED_PRECONDITION", "API_ERROR", "again"],
    [10, "ABORTED", "API_ERROR", "outage"],
    [11, "OUT_OF_RANGE", "API_ERROR", "again"],
    [12, "UNIMPLEMENTED", "API_ERROR", "person"],
    [13, "INTERNAL", "API_ERROR", "outage"],
    [14, "UNAVAILABLE", "API_ERROR", "outage"],
    [15, "DATA_LOSS", "API_ERROR", "outage"],
    [16, "UNAUTHENTICATED", "AUTH", "person"],
  ])("%i %s", (code, name, ...row) => {
    const error = grpc(code, name);
    expect(judged(error)).toEqual(row);
    expect(judged(new Error("no answer", { cause: error })), "beneath another").toEqual(row);
    expect(classifyError(error).code).toBe(name);
  });

  test("a message that is too large for the client is no rate limit", () => {
    const large = grpc(8, "RESOURCE_EXHAUSTED", "Received message larger than max (9000000 vs 4194304)");
    expect(judged(large)).toEqual(["API_ERROR", "again"]);
  });

  test("as other clients make them", () => {
    const connect = Object.assign(new Error("[unavailable] connection lost"), { code: 14, rawMessage: "x" });
    connect.name = "ConnectError";
    expect(judged(connect)).toEqual(["API_ERROR", "outage"]);
    const told = Object.assign(new Error("UNAVAILABLE: try later"), { code: "UNAVAILABLE" });
    expect(judged(told)).toEqual(["API_ERROR", "outage"]);
  });

  test.each([
    Object.assign(new Error("the draft has 14 mistakes"), { code: 14 }),
    Object.assign(new Error("four"), { code: 4 }),
    Object.assign(new Error("8 mistakes: too many"), { code: "8" }),
    Object.assign(new Error("no luck"), { code: "INTERNAL" }),
    Object.assign(new Error("no luck"), { code: "UNKNOWN" }),
  ])("a small number or a common word alone is none: %s", (error) => {
    expect(classifyError(error)).toMatchObject({ category: "UNKNOWN", outage: false });
  });
});

describe("errors of AWS are known by name", () => {
  const aws = (name: string, httpStatusCode: number) =>
    Object.assign(new Error("it says"), { name, $fault: "client", $metadata: { httpStatusCode } });

  test.each<[string, number, ...Row]>([
    ["ThrottlingException", 400, "RATE_LIMIT", "outage"],
    ["Throttling", 400, "RATE_LIMIT", "outage"],
    ["TooManyRequestsException", 429, "RATE_LIMIT", "outage"],
    ["ProvisionedThroughputExceededException", 400, "RATE_LIMIT", "outage"],
    ["RequestLimitExceeded", 503, "RATE_LIMIT", "outage"],
    ["SlowDown", 503, "RATE_LIMIT", "outage"],
    ["ServiceUnavailableException", 503, "API_ERROR", "outage"],
    ["InternalServerException", 500, "API_ERROR", "outage"],
    ["ModelTimeoutException", 408, "TIMEOUT", "outage"],
    ["ModelNotReadyException", 429, "RATE_LIMIT", "outage"],
    ["AccessDeniedException", 403, "AUTH", "person"],
    ["ExpiredTokenException", 400, "AUTH", "person"],
    ["UnrecognizedClientException", 400, "AUTH", "person"],
    ["CredentialsProviderError", 0, "AUTH", "person"],
    ["ValidationException", 400, "API_ERROR", "again"],
    ["ResourceNotFoundException", 404, "API_ERROR", "person"],
  ])("%s (%i)", (name, status, ...row) => {
    expect(judged(aws(name, status))).toEqual(row);
  });

  test("as the older SDK makes them, with the name as code", () => {
    const old = Object.assign(new Error("Rate exceeded"), { code: "ThrottlingException", statusCode: 400 });
    expect(judged(old)).toEqual(["RATE_LIMIT", "outage"]);
    expect(judged(Object.assign(new Error("Rate exceeded"), { code: "ThrottlingException" }))).toEqual([
      "RATE_LIMIT",
      "outage",
    ]);
  });
});

describe("a status written as text", () => {
  test.each<[object, ...Row]>([
    [{ status: "503" }, "API_ERROR", "outage"],
    [{ statusCode: "429" }, "RATE_LIMIT", "outage"],
    [{ response: { status: "401" } }, "AUTH", "person"],
    [{ response: { statusCode: 502 } }, "API_ERROR", "outage"],
  ])("%j is a status", (members, ...row) => {
    expect(judged(Object.assign(new Error("it says"), members))).toEqual(row);
  });

  test.each([
    { status: "open" },
    { status: "5030" },
    { status: "42" },
    { statusCode: " 503" },
    { status: "5e2" },
  ])("%j is none", (members) => {
    expect(classifyError(Object.assign(new Error("it says"), members)).category).toBe("UNKNOWN");
  });
});
