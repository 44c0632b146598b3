import { fileURLToPath } from "node:url";
import { defineConfig } from "vitest/config";

const root = new URL("../../", import.meta.url);
process.env["NODE_COMPILE_CACHE"] ??= fileURLToPath(new URL("node_modules/.cache/compiled", root));

/** A campaign ends by its own clock, so its test has no time limit. */
export default defineConfig({
  root: fileURLToPath(root),
  test: {
    include: ["test/campaign/run.campaign.ts"],
    globalSetup: ["test/crash/support/fresh-build.ts"],
    testTimeout: 0,
    hookTimeout: 0,
    retry: 0,
    pool: "forks",
    env: { npm_command: "test" },
  },
});
