// Prints the source files and functions that one recorded step passes: `npm run trace:step`. With --model: one model
// call with one tool call. V8 counts calls on the main thread and on the writer thread, only while the step runs.
// Several rounds are traced, and a function counts when every round calls it: timers fire in some rounds only.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { Session } from "node:inspector/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { defineTeam, open, persona, phase } from "../src/index.ts";

const root = fileURLToPath(new URL("../", import.meta.url));
const warmUpRounds = 20;
/** The main thread commits until the writer thread has started; the trace must show the writer thread. */
const writerStartMs = 2_000;
const tracedRounds = 8;

/** Coverage of this thread, and of each worker thread through it. */
class Coverage {
  #session = new Session();
  #workers = [];
  #answers = new Map();
  #lastId = 0;

  async start() {
    this.#session.connect();
    this.#session.on("NodeWorker.attachedToWorker", ({ params }) => this.#workers.push(params.sessionId));
    this.#session.on("NodeWorker.receivedMessageFromWorker", ({ params }) => {
      const { id, result } = JSON.parse(params.message);
      this.#answers.get(id)?.(result);
    });
    await this.#session.post("NodeWorker.enable", { waitForDebuggerOnStart: false });
    await this.#postToAll("Profiler.enable", {});
    await this.#postToAll("Profiler.startPreciseCoverage", { callCount: true, detailed: false });
  }

  /** The functions that were called since the last take, by file. */
  async take() {
    const answers = await this.#postToAll("Profiler.takePreciseCoverage", {});
    const called = new Map();
    for (const { url, functions } of answers.flatMap(({ result }) => result)) {
      const path = url.startsWith("file:") ? fileURLToPath(url) : url;
      if (!path.startsWith(join(root, "src/")) && !path.startsWith(join(root, "dist/"))) continue;
      const file = path.slice(root.length);
      for (const { functionName, ranges } of functions) {
        if (ranges[0].count > 0) called.set(`${file} ${ranges[0].startOffset}`, { file, functionName });
      }
    }
    return called;
  }

  #postToAll(method, params) {
    return Promise.all([
      this.#session.post(method, params),
      ...this.#workers.map((worker) => this.#postToWorker(worker, method, params)),
    ]);
  }

  #postToWorker(sessionId, method, params) {
    this.#lastId += 1;
    const id = this.#lastId;
    const answered = new Promise((resolve) => this.#answers.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    return this.#session.post("NodeWorker.sendMessageToWorker", { message, sessionId }).then(() => answered);
  }
}

/** Rounds of trivial steps in one running attempt. */
function stepRounds(round) {
  const worker = persona("worker", {
    run: async (ctx) => {
      for (let index = 0; index < warmUpRounds + tracedRounds; index += 1)
        await round(() => ctx.step(`step-${index}`, () => index));
      return { summary: "done" };
    },
  });
  return { team: defineTeam("trace", { phases: [phase("work", { personas: [worker] })] }), options: {} };
}

/**
 * Rounds of one model call with one tool call. The simulated model answers with a delay, and then the tool runs: a round
 * lasts from the middle of one answer to the middle of the next, while nothing else happens.
 */
function modelRounds(directory) {
  const latencyMs = writerStartMs / warmUpRounds;
  // A conversation that repeats itself fails, so each round reads another file.
  const paths = Array.from({ length: warmUpRounds + tracedRounds }, (_, index) => `${index}.txt`);
  const write = { calls: paths.map((path) => ({ tool: "write_file", input: { path, content: path } })) };
  const reads = paths.map((path) => ({ calls: [{ tool: "read_file", input: { path } }], latencyMs }));
  const script = join(directory, "script.json");
  writeFileSync(script, JSON.stringify({ personas: { worker: [[write, ...reads]] } }));
  const worker = persona("worker", { instructions: "Read the file.", maxSteps: 100 });
  const team = defineTeam("trace", { phases: [phase("work", { personas: [worker] })] });
  return { team, options: { script, model: "simulated" } };
}

function show(rounds) {
  const [first, ...others] = rounds;
  const byFile = new Map();
  for (const [key, { file, functionName }] of first) {
    if (!others.every((round) => round.has(key))) continue;
    byFile.set(file, [...(byFile.get(file) ?? []), functionName || "(anonymous)"]);
  }
  const files = [...byFile].sort(([a], [b]) => (a < b ? -1 : 1));
  for (const [file, names] of files) console.log(`${file} (${names.length}): ${names.join(", ")}`);
  const folders = new Map();
  for (const [file] of files) {
    const folder = file.split("/").slice(0, 2).join("/");
    folders.set(folder, (folders.get(folder) ?? 0) + 1);
  }
  const functions = files.reduce((sum, [, names]) => sum + names.length, 0);
  const perFolder = [...folders].map(([folder, count]) => `${folder} ${count}`).join(", ");
  console.log(`${files.length} files, ${functions} functions (${perFolder})`);
}

async function trace(isModel) {
  const directory = mkdtempSync(join(tmpdir(), "maestro-trace-"));
  const coverage = new Coverage();
  const rounds = [];
  let done = 0;
  const measured = async (round) => {
    done += 1;
    if (done === warmUpRounds) {
      await new Promise((resolve) => setTimeout(resolve, writerStartMs));
      await coverage.start();
    }
    if (done <= warmUpRounds) return round();
    await coverage.take();
    await round();
    rounds.push(await coverage.take());
  };
  const modelBegan = async () => {
    done += 1;
    if (done === warmUpRounds) await coverage.start();
    if (done >= warmUpRounds) rounds.push(await coverage.take());
  };
  const onEvent = ({ kind, step }) => {
    if (kind === "step.began" && step === "model") void modelBegan();
  };
  const { team, options } = isModel ? modelRounds(directory) : stepRounds(measured);
  const maestro = await open({ stateDir: join(directory, "state"), ...(isModel && { onEvent }), ...options });
  try {
    const { status, error } = await (await maestro.start(team, { brief: "trace" })).result();
    if (status !== "completed") throw new Error(`the traced session is ${status}: ${JSON.stringify(error)}`);
  } finally {
    await maestro.close();
    rmSync(directory, { recursive: true, force: true });
  }
  // The first rounds contain the warm-up, the last ones the end of the attempt.
  show(isModel ? rounds.slice(2, -2) : rounds);
}

await trace(process.argv.includes("--model"));
