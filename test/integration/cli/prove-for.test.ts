import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { proveFor } from "../../../src/cli/team-of.ts";
import { defineTeam, open, persona, phase } from "../../../src/index.ts";

const team = defineTeam("half", {
  model: "anthropic/claude-sonnet-4-5",
  phases: [
    phase("one", { personas: [persona("writer", { instructions: "Write." })] }),
    phase("two", { personas: [persona("coder", { run: async () => ({ summary: "done" }) })] }),
  ],
});

test("a key that only finished work needed is not asked for again", async () => {
  vi.stubEnv("ANTHROPIC_API_KEY", "");
  const stateDir = await mkdtemp(join(tmpdir(), "maestro-prove-"));
  const maestro = await open({ stateDir, teams: [team] });
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await maestro.close();
    await rm(stateDir, { recursive: true, force: true });
  });
  const given = await maestro.create(team, { brief: "b", given: { one: { summary: "Written." } } });
  const fresh = await maestro.create(team, { brief: "b" });
  const onlyOpen = (_: string, isDone: boolean) => !isDone;
  const missing = /There is no key for anthropic/;
  await expect(proveFor(maestro, given.id, team, { stateDir }, onlyOpen)).resolves.toBeUndefined();
  await expect(proveFor(maestro, given.id, team, { stateDir })).rejects.toThrow(missing);
  await expect(proveFor(maestro, fresh.id, team, { stateDir }, onlyOpen)).rejects.toThrow(missing);
});
