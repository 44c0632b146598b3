import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// The tests start thousands of processes and threads; without the cache each of them compiles the sources again.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/**
 * One project for each kind of proof: `npm run verify` runs the quick ones, `npm test` runs all of them. No test is tried
 * twice: one pass in two tries proves nothing. A time limit only ends a test that hangs, so it leaves room for a busy machine.
 */
const project = (
  name: string,
  groupOrder: number,
  limitMs: number,
  { maxWorkers = availableParallelism(), globalSetup = [] as string[] } = {},
) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout: limitMs,
    hookTimeout: limitMs,
    expect: { poll: { timeout: 60_000 } },
    maxWorkers,
    globalSetup,
    retry: 0,
    sequence: { groupOrder },
    // Printed commands depend on how npm was called; the tests expect one form. The developer's own settings do not count.
    env: { npm_command: "test", XDG_CONFIG_HOME: "/nonexistent" },
    pool: "forks" as const,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", 1, 300_000),
      project("contract", 1, 300_000, { globalSetup: ["test/support/postgres-server.ts"] }),
      project("architecture", 1, 300_000),
      // Whole sessions on a state directory, servers, commands.
      project("integration", 1, 300_000),
      project("e2e", 2, 600_000),
      project("crash", 3, 1_200_000, { globalSetup: ["test/crash/support/fresh-build.ts"] }),
      // Real coding agents, which this suite alone installs: MAESTRO_AGENTS=1 npx vitest run --project agents
      ...(process.env["MAESTRO_AGENTS"] === "1"
        ? [
            project("agents", 3, 600_000, {
              globalSetup: ["test/crash/support/fresh-build.ts", "test/agents/install.ts"],
            }),
          ]
        : []),
      // Last and alone: these tests compare the product with itself under load, so other tests must not add to it.
      project("load", 4, 600_000, { maxWorkers: 1 }),
    ],
  },
});
