import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

// Tests start some thousands of processes and threads, and each would compile the sources anew.
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", import.meta.url));

/**
 * One project per kind of proof; `npm run verify` runs the quick ones, `npm test` all of them. A shared machine can be late
 * once, so what fails is tried once more; `npm test` names every test that needed it, because "0 lost" in one of two tries
 * is a question, not a proof.
 */
const project = (
  name: string,
  groupOrder: number,
  testTimeout: number,
  { maxWorkers = availableParallelism(), globalSetup = [] as string[] } = {},
) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: testTimeout,
    maxWorkers,
    globalSetup,
    retry: 1,
    sequence: { groupOrder },
    // However vitest itself was started, commands to paste are the same.
    env: { npm_command: "test" },
    pool: "forks" as const,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", 1, 60_000),
      project("contract", 1, 60_000),
      project("architecture", 1, 60_000),
      // Whole sessions on a state directory, servers, commands.
      project("integration", 1, 60_000),
      project("e2e", 2, 120_000),
      project("crash", 3, 600_000, { globalSetup: ["test/crash/support/fresh-build.ts"] }),
      // Last and alone: what is compared with itself under load must not be under somebody else's.
      project("load", 4, 300_000, { maxWorkers: 1 }),
    ],
  },
});
