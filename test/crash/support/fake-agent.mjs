#!/usr/bin/env node
import { randomUUID } from "node:crypto";
// Plays Claude Code (`claude -p --output-format stream-json`) or Codex (`codex exec --json`), depending on its file name:
// keeps its conversation in its home, prints its session id first, and continues a conversation that it is given.
import { appendFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { homedir } from "node:os";
import { basename, join } from "node:path";

const turns = 4;
const shared = process.env.AGENT_SHARED;
const turnMs = Number(readFileSync(join(shared, "turn-ms"), "utf8"));
const isClaude = basename(process.argv[1]) === "claude";
const argv = process.argv.slice(2);
const at = argv.indexOf(isClaude ? "--resume" : "resume");
const resumed = at === -1 ? undefined : argv[at + 1];
const prompt = readFileSync(0, "utf8");
const session = resumed ?? randomUUID();
const transcript = join(homedir(), ".agent", `${session}.jsonl`);
const me = randomUUID().slice(0, 8);
const log = (line) => appendFileSync(join(shared, "log"), `${me} ${line}\n`);
const print = (event) => process.stdout.write(`${JSON.stringify(event)}\n`);

if (resumed !== undefined && !existsSync(transcript)) {
  console.error(`No conversation found with session ID: ${session}`);
  process.exit(1);
}
log(`begins ${resumed === undefined ? "anew" : "again"}`);
await until(() => !existsSync(join(shared, "hold-start")));
if (resumed === undefined) {
  mkdirSync(join(homedir(), ".agent"), { recursive: true });
  writeFileSync(transcript, "");
}
print(
  isClaude
    ? { type: "system", subtype: "init", session_id: session }
    : { type: "thread.started", thread_id: session },
);
const done = readFileSync(transcript, "utf8").split("\n").length - 1;
for (let turn = done + 1; turn <= turns; turn += 1) {
  writeFileSync(
    `part-${turn}.txt`,
    `${turn} of ${prompt.includes("Write four parts") || resumed ? session : "?"}\n`,
  );
  appendFileSync(transcript, `${turn}\n`);
  log(`turn ${turn}`);
  const text = `wrote part ${turn}`;
  const item = { type: "agent_message", text };
  print(
    isClaude
      ? { type: "assistant", message: { content: [{ type: "text", text }] }, session_id: session }
      : { type: "item.completed", item },
  );
  await new Promise((resolve) => setTimeout(resolve, turnMs));
  await until(() => !existsSync(join(shared, `hold-${turn}`)));
}
const result = JSON.stringify({ summary: "all four parts", outputs: { session } });
const usage = { input_tokens: 100, output_tokens: 10 };
if (isClaude)
  print({
    type: "result",
    subtype: "success",
    is_error: false,
    result,
    session_id: session,
    usage,
    total_cost_usd: 0.5,
  });
else {
  print({ type: "item.completed", item: { type: "agent_message", text: result } });
  print({ type: "turn.completed", usage });
}

async function until(isTrue) {
  while (!isTrue()) await new Promise((resolve) => setTimeout(resolve, 5));
}
