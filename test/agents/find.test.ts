import { delimiter } from "node:path";
import { expect, it, vi } from "vitest";
import { describeAgents } from "../../src/index.ts";
import { agentBin } from "./support/agent-commands.ts";

it("finds each installed agent with its version and its key, and starts none of them", async () => {
  vi.stubEnv("PATH", `${agentBin}${delimiter}/usr/bin`);
  const found = await describeAgents({ OPENAI_API_KEY: "key" });
  expect(found.map(({ name, version, variables }) => [name, version, variables])).toEqual([
    ["claude", "2.1.327", []],
    ["codex", "0.169.0", ["OPENAI_API_KEY"]],
    ["gemini", "0.61.0", []],
    ["opencode", "1.18.33", ["OPENAI_API_KEY"]],
  ]);
  vi.unstubAllEnvs();
});
