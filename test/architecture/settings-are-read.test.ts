import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { loadConfig } from "../../src/config/load.ts";
import { settingKeys } from "../../src/config/settings.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { serve } from "../../src/server/serve.ts";
import { recordReads } from "./recording-config.ts";

const folder = mkdtempSync(join(tmpdir(), "maestro-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** Fails at first, calls a service, and then needs help: whatever is configured has its say on the way. */
const team = defineTeam("demanding", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          run: async ({ step }) => {
            await step("call", () => "hello", { dependency: "api.example.org" });
            throw new Error("not good enough");
          },
        }),
      ],
    }),
  ],
});

let loaded: Awaited<ReturnType<typeof loadConfig>>;
beforeAll(async () => {
  const quick = { max: 1, baseDelayMs: 1, maxDelayMs: 1 };
  const overrides = { stateDir: join(folder, "state"), attempts: quick, rounds: quick, server: { port: 0 } };
  loaded = await loadConfig({ cwd: folder, env: {}, overrides });
});

test("every setting is read by a server that opens a Maestro and drives a session to its ticket", async () => {
  const { config, read } = recordReads(loaded.config);
  const server = await serve({
    loaded: { ...loaded, config },
    teams: [{ team, file: "team.ts", builtIn: false }],
    version: "0.0.0",
    report: () => {},
  });
  try {
    await server.listen();
    const session = await server.maestro.start(team, { brief: "Work." });
    expect(await session.result()).toMatchObject({ status: "parked", ticket: { status: "delivered" } });
  } finally {
    await server.stop();
  }
  expect(settingKeys.filter((key) => !read.has(key))).toEqual([]);
});

test("what counts as reading: asking for a setting, not copying its section", () => {
  const { config, read } = recordReads(loaded.config);
  const { leaseMs, rounds } = config;
  expect({ ...config.breaker, leaseMs }).toEqual({
    ...loaded.config.breaker,
    leaseMs: loaded.config.leaseMs,
  });
  expect(rounds.max).toBe(1);
  expect([...read]).toEqual(["leaseMs", "rounds.max"]);
});
