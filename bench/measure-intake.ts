import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runChild } from "./child.ts";
import { medianLimit, withLimit } from "./limit.ts";
import type { Measurement } from "./measurement.ts";
import { median } from "./statistics.ts";

const mostTimes = 4;
const mostMb = 500;

interface Intake {
  readonly gitMs: number;
  readonly ms: number;
  readonly maxRssMb: number;
}

/** The start on a large repository, beside git listing and hashing the same files in the same minute. */
export const intake: Measurement = {
  name: "intake",
  async run({ newDirectory, quick }) {
    const files = quick ? 5_000 : 100_000;
    const repository = makeRepository(newDirectory(), files);
    const windows = await withLimit(newDirectory(), { windows: quick ? 1 : 3, limitMs: 100 }, async () => {
      const gitMs = hashWithGit(repository);
      const { report } = await runChild<Omit<Intake, "gitMs">>("intake.mjs", [newDirectory(), repository]);
      return { gitMs, ...report };
    });
    const middle = (of: (one: Intake) => number): number => median(windows.map(({ value }) => of(value)));
    const [ms, gitMs, maxRssMb] = [
      middle((one) => one.ms),
      middle((one) => one.gitMs),
      middle((one) => one.maxRssMb),
    ];
    const limit = medianLimit(windows);
    const named = `${files.toLocaleString("en-US")} files`;
    return {
      rows: [
        {
          what: `start on a repository of ${named}, and \`git ls-files\` with \`git hash-object\` on it`,
          value: `${(ms / 1_000).toFixed(1)} s, ${(gitMs / 1_000).toFixed(1)} s`,
          limit,
          ratio: `${(ms / gitMs).toFixed(1)} x`,
          target: `up to ${mostTimes} x`,
          met: ms <= mostTimes * gitMs,
        },
        {
          what: `peak memory of that start`,
          value: `${maxRssMb.toFixed(0)} MB`,
          limit,
          target: `under ${mostMb} MB`,
          met: maxRssMb < mostMb,
        },
      ],
      raw: windows,
    };
  },
};

function makeRepository(folder: string, files: number): string {
  const git = (...args: readonly string[]) =>
    execFileSync("git", ["-C", folder, ...args], { stdio: "ignore" });
  git("init", "--quiet");
  for (let number = 0; number < files; number += 1) {
    const inner = join(folder, `package${number % 100}`, `part${Math.floor(number / 100) % 10}`);
    if (number < 1_000) mkdirSync(inner, { recursive: true });
    writeFileSync(join(inner, `file${number}.ts`), `export const value${number} = ${number};\n`.repeat(40));
  }
  git("add", "--all");
  git("-c", "user.name=bench", "-c", "user.email=bench@example.org", "commit", "--quiet", "-m", "files");
  return folder;
}

function hashWithGit(folder: string): number {
  const began = performance.now();
  const listed = execFileSync("git", ["-C", folder, "ls-files"], { maxBuffer: 64 * 1024 * 1024 });
  execFileSync("git", ["-C", folder, "hash-object", "--stdin-paths"], {
    input: listed,
    cwd: folder,
    maxBuffer: 64 * 1024 * 1024,
  });
  return performance.now() - began;
}
