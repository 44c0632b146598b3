import { describe, expect, test } from "vitest";
import { StateCorrupt } from "../../../src/domain/errors.ts";
import type { Json } from "../../../src/domain/json.ts";
import {
  isTicketFingerprint,
  parseTicket,
  problemLabel,
  ticketFingerprint,
} from "../../../src/domain/ticket.ts";
import { cut } from "../../../src/tickets/plain-text.ts";
import { processorMs } from "../../support/processor-time.ts";
import { sampleRequest, sampleTicket } from "./sample-ticket.ts";

const problem = { team: "product", phase: "design", persona: "architect", category: "TIMEOUT" };
const of = (message: string) => problemLabel({ ...problem, message });

describe("the same problem has the same label", () => {
  test.each([
    ["times", "stopped at 2026-01-01T10:00:00.123Z", "stopped at 2026-02-03 11:22:33"],
    ["clock times", "10:11:12 no answer", "9:08:07.5 no answer"],
    ["counts and durations", "no progress for 300 s after 12 calls", "no progress for 301.5 s after 9 calls"],
    ["session ids", "session 01k0g2t5c8r7w9x3y4z5a6b7c8", "session 01k0g2t5c8r7w9x3y4z5a6b7c9"],
    ["UUIDs", "id 6f1c2a34-0000-4000-8000-123456789abc", "id 00000000-aaaa-4bbb-8ccc-ffffffffffff"],
    ["hashes", "artifact 9f86d081884c7d65", "artifact 0a1b2c3d4e5f6a7b"],
    ["memory addresses", "object at 0x7ffee4c0", "object at 0x10aa"],
    ["network addresses", "connect 10.0.0.1:443", "connect 192.168.7.9:8443"],
    ["IPv6 addresses", "connect [::1]:443", "connect [fe80::2]:80"],
    ["ports and queries", "GET http://host:4160/a?x=1", "GET http://host:80/b?y=2"],
    ["directories", "/tmp/maestro-a1/src/main.ts is missing", "/home/me/work/src/main.ts is missing"],
    ["lines and columns", "main.ts:12:5 wrong type", "main.ts:1:17 wrong type"],
    ["layout and case", "Wrong  type\n in x", "wrong type in x"],
    ["colors", "\u001b[31mwrong\u001b[0m", "wrong"],
  ])("but for %s", (_what, first, second) => {
    expect(of(first)).toBe(of(second));
    expect(isTicketFingerprint(of(first))).toBe(true);
  });
});

test("another problem has another label", () => {
  const all = [
    of("main.ts is missing"),
    of("other.ts is missing"),
    of("main.ts is empty"),
    of(""),
    ...Object.keys(problem).map((key) => problemLabel({ ...problem, [key]: "other", message: "x" })),
    of("GET http://one.example/a"),
    of("GET http://two.example/a"),
  ];
  expect(new Set(all).size).toBe(all.length);
});

test("each session that a problem stops has a ticket of its own, which is the same ticket every time", () => {
  const first = sampleTicket();
  expect(sampleTicket({ attempts: 12 }).fingerprint).toBe(first.fingerprint);
  const other = sampleTicket({ sessionId: "01k0g2t5c8r7w9x3y4z5a6b7c9" });
  expect(other.problem).toBe(first.problem);
  expect(other.fingerprint).not.toBe(first.fingerprint);
  expect(first.fingerprint).toBe(ticketFingerprint(first.problem, first.sessionId));
});

test("a ticket that was stored before problems had a label of their own is read all the same", () => {
  const { problem: _, ...stored } = JSON.parse(JSON.stringify(sampleTicket())) as Record<string, Json>;
  expect(parseTicket(stored)).toMatchObject({ problem: stored["fingerprint"] });
});

test("text that is made to be slow is not", () => {
  const nasty = [
    "/a".repeat(20_000),
    "1".repeat(50_000),
    "1:".repeat(20_000),
    "a1".repeat(20_000),
    "[:".repeat(20_000),
  ];
  const took = processorMs(() => {
    for (const text of nasty) of(text);
  });
  expect(took).toBeLessThan(1000);
});

test("a ticket survives the database, and a damaged one is noticed", () => {
  const ticket = sampleTicket();
  const stored = JSON.parse(JSON.stringify(ticket)) as Record<string, Json>;
  expect(parseTicket(stored)).toEqual(ticket);
  for (const key of Object.keys(stored)) {
    expect(() => parseTicket({ ...stored, [key]: [[]] })).toThrow(StateCorrupt);
  }
  expect(() => parseTicket(null)).toThrow(StateCorrupt);
  expect(() => parseTicket({ ...stored, fingerprint: "../../etc/passwd" })).toThrow(StateCorrupt);
  expect(() => parseTicket({ ...stored, failures: [{ round: 1, attempt: -1, message: "" }] })).toThrow(
    StateCorrupt,
  );
});

test("the summary names persona and task in one line that Jira takes", () => {
  expect(sampleTicket().summary).toBe("architect needs help in design of product: docs/design.md is missing");
  const { summary } = sampleTicket({ message: `one\ntwo ${"x".repeat(1000)}` });
  expect(summary).not.toContain("\n");
  expect(summary.length).toBe(255);
  expect(summary).toMatch(/\[cut: \d+ more characters\]$/);
});

test("every part is bounded, and the first and the last failures stay", () => {
  const failures = Array.from({ length: 500 }, (_, index) => ({
    round: 1,
    attempt: index + 1,
    message: "y".repeat(9000),
  }));
  const long = "z".repeat(2_000_000);
  const ticket = sampleTicket({
    failures,
    details: long,
    context: Object.fromEntries(
      Array.from({ length: 500 }, (_, index) => [`key${index}`, long.slice(0, 5000)]),
    ),
    suggestedActions: Array.from({ length: 50 }, () => long.slice(0, 5000)),
    resumeCommand: long.slice(0, 5000),
  });
  expect(ticket.failures.map(({ attempt }) => attempt)).toEqual([
    1,
    ...Array.from({ length: 39 }, (_, at) => 462 + at),
  ]);
  expect(JSON.stringify(ticket).length).toBeLessThan(80_000);
});

test("a cut is visible, exact and never leaves half a character", () => {
  for (let most = 1; most < 100; most += 1) {
    const shortened = cut("😀".repeat(100), most);
    expect(shortened.length).toBeLessThanOrEqual(most);
    expect(shortened.isWellFormed()).toBe(true);
    expect(shortened).toContain("…");
  }
  expect(cut("whole", 5)).toBe("whole");
});

const key = "sk-ant-api03-abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJ";

test("secrets do not get into a ticket by any of its fields", () => {
  const text = `failed with ${key} and Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789`;
  const ticket = sampleTicket({
    message: text,
    details: `a\n${"b".repeat(9950)} ${key}`,
    failures: [{ round: 1, attempt: 1, message: text, category: text }],
    context: { [key]: text, password: "correct horse", DATABASE_TOKEN: "tiny" },
    suggestedActions: [text],
    category: text,
    resumeCommand: `maestro resume x --key ${key}`,
  });
  const stored = JSON.stringify(ticket);
  for (const secret of ["sk-ant-api03", "ghp_", "correct horse", "tiny"])
    expect(stored).not.toContain(secret);
});

test("the session id and the resume command are no secrets", () => {
  const ticket = sampleTicket();
  expect(ticket.sessionId).toBe(sampleRequest.sessionId);
  expect(ticket.resumeCommand).toBe(sampleRequest.resumeCommand);
});

test("a secret that changes does not make another problem", () => {
  expect(of(`refused ${key}`)).toBe(of(`refused ${key.replace("abc", "xyz")}`));
});
