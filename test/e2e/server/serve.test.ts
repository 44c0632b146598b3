import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { isDone, range, SseReader } from "../../integration/server/sse-reader.ts";
import { newFolder, type ServerProcess, startServer, token } from "./support/server.ts";

const team = join(import.meta.dirname, "support/steps-team.ts");
const deafTeam = join(import.meta.dirname, "support/deaf-team.ts");
const command = join(import.meta.dirname, "../../../bin/maestro.cjs");

interface View {
  readonly id: string;
  readonly status: string;
  readonly steps: number;
  readonly entries: number;
  readonly restarts: readonly string[];
}

async function until(server: ServerProcess, id: string, status: string): Promise<View> {
  return vi.waitFor(
    async () => {
      const view = await server.get<View>(`/v1/sessions/${id}`);
      expect(view.status).toBe(status);
      return view;
    },
    { timeout: 300_000, interval: 100 },
  );
}

const lines = (file: string): string[] =>
  existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];

test("the first start makes a token for its owner alone, listens on loopback, and prints a link that works once", async () => {
  const stateDir = join(newFolder(), "state");
  const server = await startServer(stateDir, [], { MAESTRO_API_TOKEN: undefined });
  expect(new URL(server.url).hostname).toBe("127.0.0.1");
  const file = join(stateDir, "api-token");
  expect(statSync(file).mode & 0o777).toBe(0o600);
  const made = readFileSync(file, "utf8").trim();
  const ask = (headers: Record<string, string>) => fetch(`${server.url}/v1/status`, { headers });
  expect((await ask({})).status).toBe(401);
  expect((await ask({ authorization: `Bearer ${token}` })).status).toBe(401);
  expect((await ask({ authorization: `Bearer ${made}` })).status).toBe(200);
  const login = await fetch(server.dashboard);
  const cookie = login.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await ask({ cookie })).status).toBe(200);
  expect((await fetch(server.dashboard)).status).toBe(401);
  expect(server.stderr(), "no secret in the log").not.toContain(made);
  server.child.kill("SIGTERM");
  expect(await server.exited).toEqual({ code: 0, signal: null });
  const again = await startServer(stateDir, [], { MAESTRO_API_TOKEN: undefined });
  const restarted = await fetch(`${again.url}/v1/status`, { headers: { cookie } });
  expect(restarted.status, "a restart keeps people signed in").toBe(200);
});

test("says that it listens on all addresses and what that means, and prints one to use on this machine", async () => {
  const server = await startServer(join(newFolder(), "state"), ["--host", "0.0.0.0"]);
  expect(server.stderr()).toMatch(
    /all addresses of this machine \(0\.0\.0\.0\).*not\s+encrypted.*--public-url/s,
  );
  expect(new URL(server.url).hostname).toBe("127.0.0.1");
  expect((await server.fetch("/v1/status")).status).toBe(200);
  expect(new URL(server.dashboard).host).toBe(new URL(server.url).host);
});

test("a session resumes after SIGKILL and a restart, and a reconnecting stream sees every seq once", async () => {
  const folder = newFolder();
  const [stateDir, effects] = [join(folder, "state"), join(folder, "effects.txt")];
  const first = await startServer(stateDir, ["--team", team]);
  const { id } = await first.post<View>("/v1/sessions", {
    team: "steps",
    brief: `${effects} 20 40`,
    key: "k",
  });
  const seen: number[] = [];
  const watch = async (server: ServerProcess) =>
    SseReader.of(
      await server.fetch(`/v1/sessions/k/events`, { headers: { "last-event-id": String(seen.at(-1) ?? 0) } }),
    );
  const before = await watch(first);
  await before.until((events) => events.filter(({ event }) => event === "entry").length >= 12);
  first.child.kill("SIGKILL");
  await first.exited;
  // Also reads the bytes that were in transit when the process died.
  await before.until(() => false).catch(() => undefined);
  seen.push(...before.ids("entry"));
  expect(seen).toEqual(range(1, seen.length));
  expect(lines(effects).length).toBeLessThan(40);

  const second = await startServer(stateDir, ["--team", team]);
  const after = await watch(second);
  await after.until(isDone);
  seen.push(...after.ids("entry"));
  await after.cancel();
  const view = await until(second, id, "completed");
  expect(seen).toEqual(range(1, view.entries));
  expect(view.steps).toBe(40);
  expect(view.restarts).toHaveLength(1);
  expect(second.stderr(), "the log has the takeover").toContain("taken over from a process that died");
  // A step whose effect happened and whose record did not is the one that may happen twice.
  const done = lines(effects);
  expect(new Set(done).size).toBe(40);
  expect(done.length).toBeLessThanOrEqual(41);
});

test("SIGTERM finishes the running step and exits with 0 within ten seconds, and the next start resumes", async () => {
  const folder = newFolder();
  const [stateDir, effects] = [join(folder, "state"), join(folder, "effects.txt")];
  const server = await startServer(stateDir, ["--team", team]);
  const { id } = await server.post<View>("/v1/sessions", { team: "steps", brief: `${effects} 5 300` });
  const stream = await SseReader.of(await server.fetch("/v1/events"));
  await vi.waitUntil(() => lines(effects).length >= 2, { timeout: 120_000 });
  const startedMs = performance.now();
  server.child.kill("SIGTERM");
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  await stream.until(() => false).catch(() => undefined);
  const again = await startServer(stateDir, ["--team", team]);
  const view = await until(again, id, "completed");
  expect(view.steps).toBe(10);
  expect(view.restarts, "a clean end is no crash").toEqual([]);
  expect(lines(effects), "nothing ran twice").toHaveLength(10);
});

test("SIGTERM ends the server within ten seconds even if work ignores its signal, and the next start resumes that work", async () => {
  const folder = newFolder();
  const stateDir = join(folder, "state");
  const server = await startServer(stateDir, ["--team", deafTeam]);
  const places = ["in", "between"].map((where) => ({ where, file: join(folder, where) }));
  const ids: string[] = [];
  for (const { where, file } of places)
    ids.push((await server.post<View>("/v1/sessions", { team: "deaf", brief: `${file} ${where}` })).id);
  const hanging = () => places.every(({ file }) => lines(file).length === 1);
  await vi.waitUntil(hanging, { timeout: 120_000 });
  const startedMs = performance.now();
  server.child.kill("SIGTERM");
  expect(await server.exited).toEqual({ code: 0, signal: null });
  expect(performance.now() - startedMs).toBeLessThan(10_000);
  const again = await startServer(stateDir, ["--team", deafTeam]);
  for (const id of ids)
    expect(await until(again, id, "completed"), "a clean end is no crash").toMatchObject({
      steps: 2,
      restarts: [],
    });
  for (const { file } of places) expect(lines(`${file}.steps`)).toEqual(["before", "after"]);
});

test("a server whose log pipe is closed still shuts down cleanly", async () => {
  const folder = newFolder();
  const [stateDir, effects] = [join(folder, "state"), join(folder, "effects.txt")];
  const server = await startServer(stateDir, ["--team", team]);
  await server.post<View>("/v1/sessions", { team: "steps", brief: `${effects} 5 200` });
  await vi.waitUntil(() => lines(effects).length >= 1, { timeout: 120_000 });
  server.child.stdout?.destroy();
  server.child.stderr?.destroy();
  server.child.kill("SIGTERM");
  expect(await server.exited).toEqual({ code: 0, signal: null });
});

test("two servers on one state directory share the work and nothing runs twice", async () => {
  const folder = newFolder();
  const [stateDir, effects] = [join(folder, "state"), join(folder, "effects.txt")];
  const one = await startServer(stateDir, ["--team", team], {
    MAESTRO_API_TOKEN: token,
    MAESTRO_SERVER_PLACES: "2",
  });
  const other = await startServer(stateDir, ["--team", team], {
    MAESTRO_API_TOKEN: token,
    MAESTRO_SERVER_PLACES: "2",
  });
  const ids: string[] = [];
  for (let count = 0; count < 8; count += 1) {
    const brief = `${effects} 5 20`;
    ids.push((await (count % 2 ? one : other).post<View>("/v1/sessions", { team: "steps", brief })).id);
  }
  for (const id of ids) expect((await until(one, id, "completed")).steps).toBe(10);
  expect(lines(effects)).toHaveLength(80);
});

test("reports a used port, a foreign address, a wrong team and a readable token file in one sentence with exit code 2", async () => {
  const folder = newFolder();
  const stateDir = join(folder, "state");
  const server = await startServer(stateDir);
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [command, "serve", "--state-dir", stateDir, ...args], {
      env: { ...process.env, ...(args.includes("0.0.0.0") && { MAESTRO_API_TOKEN: "aaaaaaaa" }) },
      encoding: "utf8",
      timeout: 60_000,
    });
  const taken = run("--port", String(server.port));
  expect([taken.status, taken.stderr]).toEqual([2, expect.stringContaining("another program uses it")]);
  // An address that is for documents only (RFC 5737).
  const elsewhere = run("--port", "0", "--host", "203.0.113.1");
  expect([elsewhere.status, elsewhere.stderr]).toEqual([2, expect.stringContaining("with --host")]);
  const wrong = run("--port", "0", "--team", "nowhere.ts");
  expect([wrong.status, wrong.stderr]).toEqual([
    2,
    expect.stringContaining("There is no team file nowhere.ts"),
  ]);
  expect(run("--port", "70000").status).toBe(2);
  const url = run("--port", "0", "--public-url", "https://maestro.example.org/path");
  expect([url.status, url.stderr]).toEqual([2, expect.stringContaining("without a path")]);
  const tls = run("--port", "0", "--tls-cert", "none.pem", "--tls-key", "none.pem");
  expect([tls.status, tls.stderr]).toEqual([2, expect.stringContaining("there is no such file")]);
  const weak = run("--port", "0", "--host", "0.0.0.0", "--log-level", "error");
  expect(weak.stderr).toMatch(/error +Error: The token is too easy to guess/);
  expect([weak.status, weak.stderr]).toEqual([2, expect.stringContaining("openssl rand -hex 32")]);
  writeFileSync(join(stateDir, "api-token"), "for-all-to-see\n");
  chmodSync(join(stateDir, "api-token"), 0o644);
  const open = run("--port", "0");
  expect([open.status, open.stderr]).toEqual([2, expect.stringContaining("others may read it")]);
});

test("`maestro --version` loads neither the server nor what it is made of", () => {
  const preload = join(newFolder(), "preload.mjs");
  writeFileSync(
    preload,
    `import { registerHooks } from "node:module";
     registerHooks({ resolve(specifier, context, next) {
       const found = next(specifier, context);
       process.stderr.write(found.url + "\\n");
       return found;
     } });\n`,
  );
  const run = spawnSync(process.execPath, ["--import", preload, command, "--version"], { encoding: "utf8" });
  expect(run.stdout).toMatch(/^\d+\.\d+\.\d+/);
  expect(run.stderr).not.toMatch(/node_modules\/(?:hono|@hono|zod|ai)\//);
});
