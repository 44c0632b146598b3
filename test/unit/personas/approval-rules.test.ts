import { describe, expect, test } from "vitest";
import { mustAsk } from "../../../src/personas/tools/approval-rules.ts";

const asks = (rule: string, title: string, args: object): boolean => mustAsk([rule])(title, args as never);
const push = (line: string): boolean => asks("run_command:git push*", "run_command", { command: line });

describe("a rule for commands", () => {
  test.each([
    "git push",
    "git push origin main",
    "git  push\torigin",
    "true; git push",
    "npm test && git push --force",
    "false || git push",
    "echo x | git push",
    "sleep 1 & git push",
    "echo $(git push)",
    "echo `git push`",
    "(cd a; git push)",
    "if true\nthen\n  git push\nfi",
    "git \\\n push",
    `sh -c "git push"`,
    `git "push" origin`,
    "g\\it push",
    "sudo git push",
    "CI=1 /usr/bin/git push",
  ])("asks about %j", (line) => {
    expect(push(line)).toBe(true);
  });

  test.each(["git status", "git pull", "npm test", "git -C . status", "echo done"])(
    "does not ask about %j",
    (line) => {
      expect(push(line)).toBe(false);
    },
  );

  test("reads a program with its arguments like a line", () => {
    expect(asks("run_command:git push*", "run_command", { argv: ["git", "push", "origin"] })).toBe(true);
    expect(asks("run_command:git push*", "run_command", { argv: ["sh", "-c", "git push"] })).toBe(true);
    expect(asks("run_command:git push*", "run_command", { argv: ["git", "log"] })).toBe(false);
  });

  test("may describe a whole line", () => {
    expect(asks("run_command:cd * && rm *", "run_command", { command: "cd /x && rm -r y" })).toBe(true);
  });

  test("asks about a line that is too long to be taken apart, and takes one just below that in no time", () => {
    expect(push("x".repeat(20_000))).toBe(true);
    const hostile = "git push ".repeat(1_800);
    expect(asks("run_command:git push* --never", "run_command", { command: hostile })).toBe(false);
  });
});

test("a rule without a pattern is about every call of the tools that it names", () => {
  expect(asks("github/create_*", "github/create_issue", { title: "x" })).toBe(true);
  expect(asks("github/create_*", "github/get_issue", {})).toBe(false);
  expect(asks("*", "github/get_issue", {})).toBe(true);
});

test("a rule with a pattern for another tool compares it with the arguments as JSON", () => {
  expect(asks('write_file:*"path":"src/*', "write_file", { path: "src/a.ts", content: "" })).toBe(true);
  expect(asks('write_file:*"path":"src/*', "write_file", { path: "test/a.ts", content: "" })).toBe(false);
});

test("without rules no person is asked", () => {
  expect(mustAsk([])("run_command", { command: "git push" })).toBe(false);
});
