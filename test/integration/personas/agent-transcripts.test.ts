import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  linkSync,
  mkdirSync,
  mkdtempSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { totalTokens } from "../../../src/domain/usage.ts";
import { totalOf } from "../../../src/personas/command/agent-use.ts";
import { readClaude } from "../../../src/personas/command/agents/claude.ts";
import { readCodex } from "../../../src/personas/command/agents/codex.ts";
import { readGemini } from "../../../src/personas/command/agents/gemini.ts";
import type { Transcript } from "../../../src/personas/command/transcript.ts";
import { linesBelow } from "../../../src/personas/command/transcript-lines.ts";

let folder: string;
let home: string;
let foreign: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "maestro-transcripts-"));
  home = join(folder, "home");
  foreign = join(folder, "foreign");
  mkdirSync(home);
  mkdirSync(foreign);
});

afterEach(() => rmSync(folder, { recursive: true }));

/** An answer in Claude Code's transcript: 7 tokens in, 3 out. */
const answer = (id: string): string => {
  const usage = { input_tokens: 7, output_tokens: 3 };
  return `${JSON.stringify({ type: "assistant", message: { id, model: "m", usage } })}\n`;
};

const codexLines = [
  { type: "session_meta", payload: { id: "s1" } },
  {
    type: "event_msg",
    payload: { type: "token_count", info: { total_token_usage: { input_tokens: 7, output_tokens: 3 } } },
  },
];
const geminiLine = { type: "gemini", id: "a", model: "m", tokens: { input: 7, output: 3 } };

function write(root: string, path: string, content: string): string {
  const file = join(root, path);
  mkdirSync(join(file, ".."), { recursive: true });
  writeFileSync(file, content);
  return file;
}

const tokensOf = ({ used }: Transcript): number => totalTokens(totalOf(used));

const agents = [
  {
    name: "Claude Code",
    read: readClaude,
    path: ".claude/projects/-workspace/s1.jsonl",
    content: answer("a"),
  },
  {
    name: "Codex",
    read: readCodex,
    path: ".codex/sessions/2026/s1.jsonl",
    content: codexLines.map((line) => `${JSON.stringify(line)}\n`).join(""),
  },
  {
    name: "Gemini",
    read: readGemini,
    path: ".gemini/tmp/project/chats/s1.jsonl",
    content: `${JSON.stringify(geminiLine)}\n`,
  },
];

for (const { name, read, path, content } of agents) {
  const names = path.split("/");

  it(`reads a transcript of ${name}`, async () => {
    write(home, path, content);
    expect(tokensOf(await read(home, "s1"))).toBe(10);
  });

  it(`follows no link to a transcript of ${name}, wherever on its way the link is`, async () => {
    write(foreign, path, content);
    for (let depth = 1; depth <= names.length; depth += 1) {
      const link = names.slice(0, depth).join("/");
      mkdirSync(join(home, link, ".."), { recursive: true });
      symlinkSync(join(foreign, link), join(home, link));
      expect(tokensOf(await read(home, "s1")), link).toBe(0);
      rmSync(join(home, names[0] ?? ""), { recursive: true });
    }
  });
}

it("does not read a file that has a second name elsewhere", async () => {
  const file = write(foreign, "s1.jsonl", answer("a"));
  mkdirSync(join(home, ".claude/projects/p"), { recursive: true });
  linkSync(file, join(home, ".claude/projects/p/s1.jsonl"));
  expect(tokensOf(await readClaude(home, "s1"))).toBe(0);
});

it.each(["pipe", "link"])("does not read a file that becomes a %s before it is opened", async (kind) => {
  const file = write(home, "logs/a.jsonl", "own\n");
  write(home, "logs/b.jsonl", "next\n");
  const other = write(foreign, "other", "foreign\n");
  const lines: string[] = [];
  const swap = ([name]: readonly string[]): boolean => {
    if (name === "a.jsonl") {
      renameSync(file, `${file}.old`);
      if (kind === "pipe") execFileSync("mkfifo", [file]);
      else symlinkSync(other, file);
    }
    return true;
  };
  for await (const line of linesBelow(home, ["logs"], swap)) if (line !== "") lines.push(line);
  expect(lines).toEqual(["next"]);
});

it("passes over a line of 20 MB, and counts the lines before and after it", async () => {
  const long = answer("b").replace("}\n", `,"text":"${"x".repeat(20_000_000)}"}\n`);
  write(home, ".claude/projects/p/s1.jsonl", answer("a") + long + answer("c"));
  expect(tokensOf(await readClaude(home, "s1"))).toBe(20);
});

it("ends at a line of 1.2 GB, and counts the lines before it", async () => {
  const file = write(home, ".claude/projects/p/s1.jsonl", answer("a"));
  truncateSync(file, 1_200_000_000);
  appendFileSync(file, `\n${answer("b")}`);
  expect(tokensOf(await readClaude(home, "s1"))).toBe(10);
});

it("counts a last line that has no end, and passes over one that a crash has cut", async () => {
  const file = write(home, ".claude/projects/p/s1.jsonl", answer("a").trimEnd());
  expect(tokensOf(await readClaude(home, "s1"))).toBe(10);
  appendFileSync(file, `\n${answer("b").slice(0, 30)}`);
  expect(tokensOf(await readClaude(home, "s1"))).toBe(10);
});

it("counts the files of one conversation with Claude Code and of its sub-agents, by their exact names", async () => {
  write(home, ".claude/projects/p/s1.jsonl", answer("a"));
  write(home, ".claude/projects/p/s1/subagents/agent-1.jsonl", answer("b"));
  write(home, ".claude/projects/p/s10.jsonl", answer("c"));
  write(home, ".claude/projects/s1-old/other.jsonl", answer("d"));
  expect(tokensOf(await readClaude(home, "s1"))).toBe(20);
  expect(tokensOf(await readClaude(home, "projects"))).toBe(0);
  expect(tokensOf(await readClaude(home, "jsonl"))).toBe(0);
});
