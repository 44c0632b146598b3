import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { z } from "zod";
import { buildProgram } from "../../src/cli/program.ts";
import { begin, lines, maestro, type Place, place } from "./support/packed.ts";
import * as schemas from "./support/schemas.ts";

type Row = readonly [commandLine: string, schema: z.ZodType, exitCode?: number];

/** A story: each rests on those before it. What lists something has something to list. */
const story: readonly Row[] = [
  ["init --yes --name hello --phases greeting,reply", schemas.initSchema],
  ["run Hello --team hello.yaml --key hello --until greeting", schemas.drivenSchema],
  ["phase hello reply", schemas.phaseSchema],
  ["resume hello --out out", schemas.drivenSchema],
  ["sessions", schemas.sessionsSchema],
  ["show hello", schemas.showSchema],
  ["checkpoints hello", schemas.checkpointsSchema],
  ["checkpoints verify hello", schemas.checkpointsSchema],
  ["checkpoints export hello hello.maestro", schemas.carriedSchema],
  ["checkpoints import hello.maestro --state-dir elsewhere", schemas.importedSchema],
  ["checkpoints restore hello", schemas.restoredSchema],
  ["transcript hello", schemas.transcriptSchema],
  ["diff hello --stat", schemas.diffSchema],
  ["apply hello --to applied", schemas.appliedSchema],
  ["run Hello --team hello.yaml --key based --repo based", schemas.drivenSchema],
  ["branch based maestro/based", schemas.branchSchema],
  ["fork hello --at greeting", schemas.forkPlanSchema],
  ["fork hello --at greeting --fresh --dry-run", schemas.forkPlanSchema],
  ["fork hello --at greeting --fresh --key again --out again", schemas.forkSchema],
  ["usage --session hello --by phase", schemas.usageSchema],
  ["budget hello --tokens 200k", schemas.budgetSchema],
  ["run Hello --team hello.yaml --key asked --pause-after greeting", schemas.drivenSchema, 4],
  ["reject asked --note shorter", schemas.saidSchema],
  ["resume asked", schemas.drivenSchema, 4],
  ["approve asked", schemas.saidSchema],
  ["cancel asked", schemas.saidSchema],
  ["run Hello --team hello.yaml --model anthropic/claude-sonnet-4-5 --key away", schemas.drivenSchema, 4],
  ["tickets", schemas.ticketsSchema],
  ["breakers", schemas.breakersSchema],
  ["breakers reset anthropic/claude-sonnet-4-5", schemas.breakerResetSchema],
  ["run Hello --team hello.yaml --key behind --detach", schemas.detachedSchema],
  ["watch behind", schemas.resultSchema],
  ["prune --older-than 0", schemas.pruneSchema],
  ["doctor --offline", schemas.doctorSchema],
  ["prices --match claude", schemas.pricesSchema],
  ["config", schemas.configSchema],
  ["trust", schemas.trustSchema],
  ["trust --revoke", schemas.trustSchema],
  ["users add ann --role viewer", schemas.userSchema.extend({ token: z.string() })],
  ["users list", schemas.usersSchema],
  ["users revoke ann", schemas.revokedSchema],
  ["audit", schemas.auditSchema],
  ["completion zsh", schemas.completionSchema],
];

/** No server answers; one try opens the breaker and asks for help. */
const unreachable = {
  ANTHROPIC_BASE_URL: "http://127.0.0.1:9",
  ANTHROPIC_API_KEY: "none",
  MAESTRO_L1_MAX_ATTEMPTS: "1",
  MAESTRO_L2_MAX_ATTEMPTS: "1",
  MAESTRO_BREAKER_THRESHOLD: "1",
};

const someone = ["-c", "user.name=A person", "-c", "user.email=person@example.org"];

/** These print one event a line, the last one the result; all others one document. */
const streams = ["run", "resume", "watch"];

/** The demo, `settle` and `answer` have tests of their own; `serve` and `mcp` do not end; `pause` needs a session that runs. */
const alone = ["demo", "serve", "mcp", "pause", "settle", "answer"];

async function problemsOf(at: Place, [commandLine, schema, exitCode = 0]: Row): Promise<string[]> {
  const [command = "", ...args] = commandLine.split(" ");
  const { code, stdout, stderr } = await maestro(at, command, ...args, "--json");
  const problems = code === exitCode ? [] : [`ended with ${code}: ${stderr}`];
  const texts = lines(stdout);
  if (!streams.includes(command) && texts.length > 1) problems.push("is not one document");
  for (const [index, text] of texts.entries()) {
    const expected = index === texts.length - 1 ? schema : schemas.eventSchema;
    const { error } = expected.safeParse(parsed(text));
    if (error !== undefined) problems.push(`${z.prettifyError(error)} in ${text.slice(0, 500)}`);
  }
  return problems.map((problem) => `${commandLine}: ${problem}`);
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return `not JSON: ${text}`;
  }
}

test("with --json every command prints what its schema promises, and nothing else on standard output", async () => {
  const known = buildProgram().commands.map((command) => command.name());
  const told = new Set([...story.map(([commandLine]) => commandLine.split(" ")[0]), ...alone]);
  expect(
    known.filter((name) => !told.has(name)),
    "commands without a schema",
  ).toEqual([]);
  const at = place(unreachable);
  mkdirSync(join(at.folder, "applied"));
  const repository = join(at.folder, "based");
  execFileSync("git", ["init", "--quiet", repository]);
  execFileSync("git", [
    "-C",
    repository,
    ...someone,
    "commit",
    "--quiet",
    "--allow-empty",
    "--message",
    "start",
  ]);
  const problems: string[] = [];
  for (const row of story) problems.push(...(await problemsOf(at, row)));
  expect(problems).toEqual([]);
});

test("pause --json prints the session's status", async () => {
  const at = place();
  await maestro(at, "init", "--yes", "--name", "hello", "--phases", "greeting,reply");
  const script = join(at.folder, "script.json");
  writeFileSync(script, '{"latencyMs": 1000}');
  const slow = { ...at, env: { ...at.env, MAESTRO_SIMULATED_SCRIPT: script } };
  await maestro(slow, "run", "Hello", "--team", "hello.yaml", "--key", "k", "--detach");
  expect(await problemsOf(slow, ["pause k", schemas.saidSchema])).toEqual([]);
  expect(await problemsOf(slow, ["watch k", schemas.resultSchema])).toEqual([]);
});

test("serve --json: one line that says where it listens; --link asks it for another link", async () => {
  const at = place();
  const { child, finished, output } = begin(at, ["serve", "--port", "0", "--json"]);
  await vi.waitUntil(() => output().startsWith("{") && output().includes("\n"), { timeout: 120_000 });
  const { url } = schemas.serveSchema.parse(parsed(output()));
  const link = `serve --link --port ${new URL(url).port}`;
  expect(await problemsOf(at, [link, schemas.linkSchema])).toEqual([]);
  child.kill("SIGTERM");
  const { code, stdout } = await finished;
  expect({ code, lines: lines(stdout).length }).toEqual({ code: 0, lines: 1 });
});
