import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sentCalls } from "../../support/sent-calls.ts";
import { begin, json, lines, maestro, type Place, place } from "../support/packed.ts";
import { downloadPackages, type Job, jobs, repositoryOf, scriptOf, teamOf } from "./jobs.ts";

let packages: ReturnType<typeof downloadPackages>;
beforeAll(() => {
  packages = downloadPackages();
});
afterAll(() => packages.remove());

interface Shown {
  readonly id: string;
  readonly status: string;
  readonly baseline: readonly {
    readonly check: string;
    readonly status: string;
    readonly passed: number;
    readonly failed: number;
  }[];
  readonly setup: readonly object[];
  readonly phases: readonly {
    readonly gate: { readonly score: number };
    readonly personas: readonly { readonly attempts: readonly { readonly status: string }[] }[];
  }[];
  readonly usage: { readonly calls: number };
}

/** The folder of a person with this job, and the command that they type. */
function jobPlace(job: Job) {
  const { folder, env } = place({ MAESTRO_SIMULATED_SCRIPT: "script.json" });
  const repository = repositoryOf(job, packages.folder);
  writeFileSync(join(folder, "team.yaml"), teamOf(job));
  writeFileSync(join(folder, "script.json"), scriptOf(job));
  const run = ["run", "Mend it", "--repo", repository.folder, "--team", "team.yaml", "--model", "simulated"];
  return { at: { folder, env } as Place, repository, run: [...run, "--key", "job"] };
}

/** Kills the command with SIGKILL whenever it has recorded two more rows, until it was killed this often. */
async function killedOften(at: Place, run: readonly string[], kills: number): Promise<number> {
  let [seen, killed] = [0, 0];
  while (killed < kills) {
    const running = begin(at, [...(killed === 0 ? run : ["resume", "job"]), "--json"]);
    let fresh = 0;
    running.child.stdout.on("data", () => {
      const rows = lines(running.output()).flatMap((line) => seqOf(line) ?? []);
      fresh = rows.filter((seq) => seq > seen).length;
      if (fresh >= 2) running.child.kill("SIGKILL");
    });
    const { code } = await running.finished;
    if (code !== null) return killed;
    killed += 1;
    seen = Math.max(seen, ...lines(running.output()).flatMap((line) => seqOf(line) ?? []));
  }
  return killed;
}

function seqOf(line: string): number | undefined {
  const [, seq] = /^\{"sessionId":"[^"]*","seq":(\d+),.*"kind":"(?!session\.claimed)/.exec(line) ?? [];
  return seq === undefined ? undefined : Number(seq);
}

describe.each(jobs)("a broken package whose suite is $name", (job) => {
  test("is mended on a branch, after ten kills as without one", async () => {
    const quiet = jobPlace(job);
    const parked = await maestro(quiet.at, ...quiet.run);
    expect(parked, parked.stderr).toMatchObject({ code: 4 });
    const shown = await json<Shown>(quiet.at, "show", "job");
    const { passed, failed } = job.tests;
    expect(shown.baseline).toMatchObject([{ check: "test", status: "failed", passed, failed }]);
    expect(parked.stderr).toContain(`${failed} of ${passed + failed} fail before we began`);
    expect(shown.phases[0]?.personas[0]?.attempts.map(({ status }) => status)).toEqual([
      "failed",
      "completed",
    ]);
    expect(shown.phases[0]?.gate.score).toBe(1);

    const calls = await sentCalls(quiet.at.env["MAESTRO_STATE_DIR"] ?? "", "job");
    const second = JSON.stringify(calls.at(-1)?.messages);
    for (const text of job.said) expect(second).toMatch(text);

    const killed = jobPlace(job);
    expect(await killedOften(killed.at, killed.run, 10)).toBe(10);
    await maestro(killed.at, "resume", "job");
    const again = await json<Shown>(killed.at, "show", "job");
    expect(again.phases[0]?.personas[0]?.attempts.map(({ status }) => status)).toEqual([
      "failed",
      "completed",
    ]);
    expect(again.baseline).toMatchObject([{ check: "test", status: "failed", passed, failed }]);
    expect(again.setup).toHaveLength(shown.setup.length);
    const recorded = await sentCalls(killed.at.env["MAESTRO_STATE_DIR"] ?? "", "job");
    // Not the same prompts: the second attempt sees the times that the test runner printed.
    expect(recorded).toHaveLength(calls.length);
    expect(new Set(recorded.map(({ row }) => row.fingerprint)).size).toBe(calls.length);

    for (const { at, repository } of [quiet, killed]) {
      expect((await maestro(at, "approve", "job")).code).toBe(0);
      expect((await maestro(at, "resume", "job")).code).toBe(0);
      const first = await json<{ commits: readonly string[] }>(at, "branch", "job", "mended");
      const twice = await json<{ commits: readonly string[] }>(at, "branch", "job", "mended-again");
      expect(twice.commits).toEqual(first.commits);
      expect(repository.git("status", "--porcelain")).toBe("");
      const changed = repository.git("diff", "--unified=0", "main", "mended").split("\n");
      expect(changed.filter((line) => /^[-+](?![-+])/.test(line))).toEqual([
        expect.stringContaining(job.broken),
        expect.stringContaining(job.right),
      ]);
    }
    expect(killed.repository.git("rev-parse", "mended^{tree}")).toBe(
      quiet.repository.git("rev-parse", "mended^{tree}"),
    );
  });
});
