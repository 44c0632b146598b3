import { existsSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { maestro, start, temporaryFolder } from "./support/maestro.ts";

const team = join(import.meta.dirname, "support/exiting-team.ts");

function place() {
  const folder = temporaryFolder();
  return { brief: join(folder, "mayEnd"), at: ["--state-dir", join(folder, "state")] };
}

const said =
  /Code of the team ended this process while session (\S+) ran\. No recorded step is lost\.\s+Resume with:\s+maestro resume \1 --state-dir /;

test("a persona that ends the process with code 0 does not make the command succeed", async () => {
  const { brief, at } = place();
  const run = await maestro(["run", brief, "--team", team, "--key", "k", ...at]);
  expect(run).toMatchObject({ code: 1, stderr: expect.stringMatching(said) as unknown });
  const asJson = await maestro(["resume", "k", "--json", ...at]);
  expect(asJson).toMatchObject({ code: 1, stderr: expect.stringMatching(said) as unknown });
  const phase = await maestro(["phase", "k", "only", ...at]);
  expect(phase).toMatchObject({ code: 1, stderr: expect.stringMatching(said) as unknown });
  writeFileSync(brief, "");
  const resumed = await maestro(["resume", "k", ...at]);
  expect(resumed).toMatchObject({ code: 0, stdout: expect.stringContaining("is completed.") as unknown });
  expect(resumed.stderr).not.toContain("ended this process");
  rmSync(brief);
  const fork = await maestro(["fork", "k", "--at", "only", "--fresh", ...at]);
  expect(fork).toMatchObject({ code: 1, stderr: expect.stringMatching(said) as unknown });
});

test("a persona that ends the process on Ctrl-C leaves the exit code of an interrupt", async () => {
  const { brief, at } = place();
  writeFileSync(`${brief}.patient`, "");
  const run = start(["run", brief, "--team", team, "--key", "k", ...at]);
  await vi.waitUntil(() => existsSync(`${brief}.listening`) && run.output().includes("Session "), {
    timeout: 120_000,
  });
  run.child.kill("SIGINT");
  const { code, stderr } = await run.finished;
  expect(code).toBe(130);
  expect(stderr).toMatch(said);
});
