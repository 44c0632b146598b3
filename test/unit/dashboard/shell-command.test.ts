import { execFileSync } from "node:child_process";
import { expect, test } from "vitest";
import { commandName, editFlags, shellCommand } from "../../../dashboard/src/format/shell-command.ts";
import { reviewCommand } from "../../../dashboard/src/sentences/review-command.ts";
import { emptyStart, startCommand } from "../../../dashboard/src/start/start-form.ts";

/** The arguments that a shell passes to `maestro`, call by call: nothing else may run, and nothing may be lost. */
function callsOf(command: string): string[][] {
  const script = `maestro() { printf 'call\\0'; printf '%s\\0' "$@"; }\n${command}`;
  const said = execFileSync("sh", ["-c", script], { encoding: "utf8" });
  return said
    .split("call\0")
    .slice(1)
    .map((words) => words.split("\0").slice(0, -1));
}

const hostile = [
  "x; touch /tmp/pwned #",
  "$(touch /tmp/pwned)",
  "`id`",
  'it\'s "both"',
  "a && b | c > d",
  "*",
  "~root",
  "!!",
  "line\nbreak",
  "\\",
  "",
  "ключ",
];

test.each(hostile)("%j is one word for the shell, wherever it stands", (text) => {
  expect(callsOf(shellCommand(["resume", text], null))).toEqual([["resume", text]]);
  expect(callsOf(shellCommand(["budget", "k", "--persona", text], text))).toEqual([
    ["budget", "k", "--persona", text, "--state-dir", text],
  ]);
});

test("a plain command stays as a person would type it; what is not wanted is left out", () => {
  expect(shellCommand(["resume", "parking-1", false, undefined], null)).toBe("maestro resume parking-1");
  expect(shellCommand(["fork", "k", "--at", "design"], "/srv/state")).toBe(
    "maestro fork k --at design --state-dir /srv/state",
  );
  expect(editFlags(["design"])).toEqual(["--edit", "design=edit.json"]);
  expect(editFlags(["a", "b"])).toEqual(["--edit", "a=a.json", "--edit", "b=b.json"]);
});

test("a key that reads as a flag, or has invisible characters, is replaced by the id", () => {
  const id = "s_1";
  expect(commandName({ key: "parking", id })).toBe("parking");
  expect(commandName({ key: null, id })).toBe(id);
  for (const key of ["--all", "-x", "a\u202eb", "a\u001b[31m", "a\nb"])
    expect(commandName({ key, id })).toBe(id);
});

test("the command of a review has the phase and the whole note", () => {
  const note = `${"not this. ".repeat(40)}$(rm -rf ~) "quoted"`;
  const command = (...words: Parameters<typeof shellCommand>[0]) => shellCommand(words, "/my state");
  const said = reviewCommand(command, { key: "k", id: "s_1" }, "reject", "design", note);
  expect(callsOf(said)).toEqual([
    ["reject", "k", "--phase", "design", "--note", note, "--state-dir", "/my state"],
  ]);
  expect(callsOf(reviewCommand(command, { key: "k", id: "s_1" }, "approve", "design", ""))).toEqual([
    ["approve", "k", "--phase", "design", "--state-dir", "/my state"],
  ]);
});

test("a start can be copied with anything in its fields", () => {
  const form = { ...emptyStart, brief: "$(id)", key: "a;b", model: "x/$y", pauseAfter: ["a b", "c"] };
  const command = startCommand(form, { builtIn: false, file: "/w/my team.ts" }, "/s t") ?? "";
  expect(callsOf(command)).toEqual([
    [
      "run",
      "$(id)",
      "--team",
      "/w/my team.ts",
      "--model",
      "x/$y",
      "--key",
      "a;b",
      "--pause-after",
      "a b,c",
    ].concat(["--state-dir", "/s t"]),
  ]);
});
