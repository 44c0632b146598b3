import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { startOf } from "../../../src/workspace/process-end.ts";
import { start } from "../support/maestro.ts";
import { newFolder, type ServerProcess, startServer, token } from "./support/server.ts";

const wildTeam = join(import.meta.dirname, "support/wild-team.ts");
const patientTeam = join(import.meta.dirname, "support/patient-team.ts");
const teams = ["--team", wildTeam, "--team", patientTeam];
const environment = {
  MAESTRO_API_TOKEN: token,
  MAESTRO_L2_MAX_ATTEMPTS: "1",
  MAESTRO_SERVER_FUNCTION_MEMORY_MB: "256",
};

interface View {
  readonly id: string;
  readonly status: string;
  readonly restarts: readonly string[];
  readonly phases: readonly { readonly personas: readonly Persona[] }[];
}

interface Persona {
  readonly summary: string | null;
  readonly attempts: readonly Attempt[];
}

interface Attempt {
  readonly failure: { readonly category: string; readonly code?: string; readonly message: string } | null;
}

const startSession = (server: ServerProcess, team: string, brief: string) =>
  server.post<View>("/v1/sessions", { team, brief });

async function until(server: ServerProcess, { id }: View, status: string): Promise<View> {
  return vi.waitFor(
    async () => {
      const view = await server.get<View>(`/v1/sessions/${id}`);
      expect(view.status).toBe(status);
      return view;
    },
    { timeout: 300_000, interval: 100 },
  );
}

/** Lines of `name pid`. */
const callsIn = (file: string): (readonly [name: string, pid: number])[] =>
  (existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : []).map((line) => {
    const [name = "", pid = ""] = line.split(" ");
    return [name, Number(pid)];
  });

const namesIn = (file: string) => callsIn(file).map(([name]) => name);

const waitForGone = (pids: readonly number[]) =>
  vi.waitUntil(async () => (await Promise.all(pids.map(startOf))).every((started) => started === undefined), {
    timeout: 60_000,
  });

describe("a function that ends, exhausts or disturbs its process fails only its own attempt", () => {
  test("and sessions beside it make their long call once", { timeout: 600_000 }, async () => {
    const folder = newFolder();
    const server = await startServer(join(folder, "state"), teams, environment);
    const innocent = ["one", "two", "three"].map((name) => join(folder, name));
    const beside = await Promise.all(innocent.map((file) => startSession(server, "patient", file)));
    await vi.waitUntil(() => innocent.every((file) => namesIn(file).includes("long")), { timeout: 120_000 });
    const ways = {
      rejection: { code: "STRAY_ERROR", message: "left behind" },
      timer: { category: "SYNTAX", message: "JSON" },
      emitter: { code: "STRAY_ERROR", message: "left behind" },
      exit: { code: "PERSONA_CRASHED", message: "exit code 0" },
      abort: { code: "PERSONA_CRASHED", message: "signal SIGABRT" },
      heap: { category: "RESOURCE", code: "PERSONA_CRASHED", message: "more than 256 MiB of memory" },
      buffers: { category: "RESOURCE", code: "PERSONA_CRASHED", message: "more than 256 MiB of memory" },
      loop: { category: "TIMEOUT", message: "No progress for 10 s." },
      flood: { code: "PERSONA_CRASHED", message: "more than 10000 steps at once" },
      "step-exit": { code: "PERSONA_CRASHED", message: "exit code 7" },
      "step-loop": { category: "TIMEOUT", message: "No progress for 10 s." },
    };
    for (const [way, { message, ...failure }] of Object.entries(ways)) {
      const pids = join(folder, `${way}.pids`);
      const guilty = await startSession(server, "wild", `${way} ${pids}`);
      const view = await until(server, guilty, "parked");
      const attempts = view.phases[0]?.personas[0]?.attempts ?? [];
      expect(attempts, way).toHaveLength(1);
      expect(attempts[0]?.failure, way).toMatchObject(failure);
      expect(attempts[0]?.failure?.message, way).toContain(message);
      const [own = 0, other = 0] = readFileSync(pids, "utf8").trim().split(" ").map(Number);
      expect(own, "in a process of its own").not.toBe(server.child.pid);
      await waitForGone([own, other]);
      expect(server.child.exitCode, way).toBeNull();
    }
    for (const file of innocent) writeFileSync(`${file}.go`, "");
    for (const session of beside) expect((await until(server, session, "completed")).restarts).toEqual([]);
    for (const file of innocent) expect(namesIn(file)).toEqual(["short", "long"]);
  });
});

describe("kill -9 of the server", () => {
  test("in an isolated step repeats nothing recorded and leaves no process", async () => {
    const folder = newFolder();
    const [stateDir, file] = [join(folder, "state"), join(folder, "calls")];
    const first = await startServer(stateDir, teams, environment);
    const session = await startSession(first, "patient", file);
    await vi.waitUntil(() => namesIn(file).includes("long"), { timeout: 120_000 });
    first.child.kill("SIGKILL");
    await first.exited;
    await waitForGone(callsIn(file).map(([, pid]) => pid));
    const second = await startServer(stateDir, teams, environment);
    await vi.waitUntil(() => callsIn(file).length === 3, { timeout: 120_000 });
    writeFileSync(`${file}.go`, "");
    await until(second, session, "completed");
    expect(namesIn(file), "only the call under way is made again").toEqual(["short", "long", "long"]);
  });

  test("ends a function that loops for ever, and the processes that it started", async () => {
    const folder = newFolder();
    const [stateDir, file] = [join(folder, "state"), join(folder, "pids")];
    const server = await startServer(stateDir, teams, environment);
    await startSession(server, "wild", `loop ${file}`);
    await vi.waitUntil(() => existsSync(file), { timeout: 120_000 });
    server.child.kill("SIGKILL");
    await server.exited;
    await waitForGone(readFileSync(file, "utf8").trim().split(" ").map(Number));
  });
});

test("a session begun by `maestro run` continues under `maestro serve`, and under `maestro resume` after that", async () => {
  const folder = newFolder();
  const [stateDir, file] = [join(folder, "state"), join(folder, "calls")];
  const run = start(["run", file, "--team", patientTeam, "--key", "k", "--state-dir", stateDir]);
  await vi.waitUntil(() => namesIn(file).includes("long"), { timeout: 120_000 });
  expect(
    callsIn(file).map(([, pid]) => pid),
    "maestro run does not isolate",
  ).toEqual([run.child.pid, run.child.pid]);
  run.child.kill("SIGKILL");
  await run.finished;
  const server = await startServer(stateDir, teams, environment);
  await vi.waitUntil(() => callsIn(file).length === 3, { timeout: 120_000 });
  server.child.kill("SIGKILL");
  await server.exited;
  writeFileSync(`${file}.go`, "");
  const resumed = await start(["resume", "k", "--state-dir", stateDir, "--json"]).finished;
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(namesIn(file)).toEqual(["short", "long", "long", "long"]);
});

test("a function sees the environment and the working folder of the server", async () => {
  const marked = { ...environment, FUNCTION_MARK: "seen" };
  const server = await startServer(join(newFolder(), "state"), teams, marked);
  const view = await until(server, await startSession(server, "wild", "environment"), "completed");
  expect(view.phases[0]?.personas[0]?.summary).toBe(`seen in ${process.cwd()}`);
});

test("the server logs an error that belongs to no session, and continues", async () => {
  const restless = join(import.meta.dirname, "support/restless-team.ts");
  const server = await startServer(join(newFolder(), "state"), ["--team", restless], environment);
  await vi.waitUntil(() => server.stderr().includes("raised by the module itself"), { timeout: 60_000 });
  expect(server.stderr()).toContain("belongs to no session. The server continues.");
  expect((await server.fetch("/v1/status")).status).toBe(200);
});

test("`maestro run` parks a session whose function leaves an error that nothing handles", async () => {
  const args = ["run", "rejection", "--team", wildTeam, "--state-dir", join(newFolder(), "state")];
  const { code, stderr } = await start(args, environment).finished;
  expect(code, stderr).toBe(4);
  expect(stderr).toContain("left an error that nothing handled: left behind");
});
