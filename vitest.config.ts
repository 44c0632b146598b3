import { defineConfig } from "vitest/config";

/** One project per kind of proof; `npm run verify` runs the quick ones, `npm test` all of them. */
const project = (name: string, testTimeout: number, fileParallelism = true) => ({
  test: {
    name,
    include: [`test/${name}/**/*.test.ts`],
    testTimeout,
    hookTimeout: testTimeout,
    fileParallelism,
    pool: "forks" as const,
  },
});

export default defineConfig({
  test: {
    projects: [
      project("unit", 10_000),
      project("contract", 20_000),
      project("architecture", 20_000),
      project("e2e", 120_000),
      project("crash", 600_000, false),
    ],
  },
});
