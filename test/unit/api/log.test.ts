import { expect, test } from "vitest";
import { createLog, type LogEntry } from "../../../src/api/log/log.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";

function written(format: "text" | "json", ...entries: readonly LogEntry[]): string {
  const lines: string[] = [];
  const clock = new ManualClock(Date.UTC(2026, 0, 2));
  const log = createLog({ format, level: "info", clock, write: (line) => lines.push(line) });
  for (const entry of entries) log(entry);
  return lines.join("");
}

test("a text entry is one line with time, level, message and fields, whatever the message contains", () => {
  const entry = {
    level: "warn",
    message: "first\nsecond \u001b[31mred",
    fields: { session: "s1", key: "two words", attempt: undefined, ms: 3 },
  } as const;
  expect(written("text", entry)).toBe(
    '2026-01-02T00:00:00.000Z warn  first second  [31mred session=s1 key="two words" ms=3\n',
  );
});

test("a JSON entry is one document on one line", () => {
  const line = written("json", { level: "error", message: "a\nb", fields: { persona: "dev", seq: 4 } });
  expect(line.trimEnd()).not.toContain("\n");
  expect(JSON.parse(line)).toEqual({
    time: "2026-01-02T00:00:00.000Z",
    level: "error",
    message: "a\nb",
    persona: "dev",
    seq: 4,
  });
});

test("entries below the level are left out", () => {
  const lines = written("text", { level: "debug", message: "hidden" }, { level: "info", message: "shown" });
  expect(lines).toContain("shown");
  expect(lines).not.toContain("hidden");
});

test.each(["text", "json"] as const)("a secret in a message or a field is removed from %s", (format) => {
  const secret = `ghp_${"a1B2".repeat(9)}`;
  const line = written(format, { level: "info", message: `with ${secret}`, fields: { key: secret } });
  expect(line).not.toContain(secret);
  expect(line.split("[redacted]")).toHaveLength(3);
});
