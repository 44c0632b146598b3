import dns from "node:dns/promises";
import { mkdtempSync, rmSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import type { ConfigOverrides } from "../../src/config/config.ts";
import { loadConfig } from "../../src/config/load.ts";
import {
  defineTeam,
  type Maestro,
  open,
  type PersonaFunction,
  persona,
  phase,
  type SessionEvent,
  type SessionResult,
  type Team,
} from "../../src/index.ts";
import { serve } from "../../src/server/serve.ts";
import { type Answer, LoopbackServer } from "../support/loopback-server.ts";

/** No waits between retries, except in rows about retries. */
const quick = { max: 1, baseDelayMs: 0, maxDelayMs: 0 };

/** Removed after the test. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "maestro-settings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Exactly these settings: nothing from the environment, nothing from a file. */
export async function load(overrides: ConfigOverrides) {
  const folder = newFolder();
  return loadConfig({
    cwd: folder,
    env: {},
    overrides: {
      stateDir: join(folder, "state"),
      ...overrides,
      attempts: { ...quick, ...overrides.attempts },
      rounds: { ...quick, ...overrides.rounds },
    },
  });
}

export interface Hive {
  readonly maestro: Maestro;
  readonly events: SessionEvent[];
  readonly notices: string[];
}

export async function openWith(overrides: ConfigOverrides): Promise<Hive> {
  const events: SessionEvent[] = [];
  const notices: string[] = [];
  const maestro = await open({
    loaded: await load(overrides),
    onEvent: (event) => events.push(event),
    onNotice: (notice) => notices.push(notice),
  });
  onTestFinished(() => maestro.close());
  return { maestro, events, notices };
}

export async function serveWith(overrides: ConfigOverrides, run: PersonaFunction = async () => done) {
  return serveFile(undefined, teamOf(run), overrides);
}

export async function serveFile(file: string | undefined, team: Team, overrides: ConfigOverrides) {
  const server = await serve({
    loaded: await load(overrides),
    teams: [{ team, file, builtIn: false }],
    version: "0.0.0-test",
    report: () => {},
  });
  onTestFinished(() => server.stop());
  return { server, team };
}

export const done = { summary: "done" };

export const teamOf = (run: PersonaFunction) =>
  defineTeam("only", { phases: [phase("only", { personas: [persona("worker", { run })] })] });

/** Runs one session with one persona. */
export async function runWith(
  overrides: ConfigOverrides,
  run: PersonaFunction,
): Promise<Hive & { readonly result: SessionResult }> {
  const hive = await openWith(overrides);
  const session = await hive.maestro.start(teamOf(run), { brief: "Work." });
  return { ...hive, result: await session.result() };
}

/** All waits, in order. */
export async function waitsWith(overrides: ConfigOverrides): Promise<readonly number[]> {
  const { events } = await runWith(overrides, () => Promise.reject(new Error("not good enough")));
  return events.flatMap((event) =>
    event.kind === "attempt.failed" && event.waitMs !== null ? [event.waitMs] : [],
  );
}

export async function listen(handle: ConstructorParameters<typeof LoopbackServer>[0]) {
  const server = await new LoopbackServer(handle).listen();
  onTestFinished(() => server.close());
  return server;
}

/** Until the end of the test every host name resolves to this machine. */
export function leadNamesHere(): void {
  const { lookup } = dns;
  const here = async () => [{ address: "127.0.0.1", family: 4 }];
  dns.lookup = here as unknown as typeof lookup;
  syncBuiltinESMExports();
  onTestFinished(() => {
    dns.lookup = lookup;
    syncBuiltinESMExports();
  });
}

export const ok = (body: unknown): Answer => ({ status: 200, body });
