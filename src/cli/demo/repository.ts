import { execFile } from "node:child_process";
import { cp } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { namedTools } from "../../api/tables.ts";
import { quote } from "../../domain/advice.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { packageFile } from "../../package-files.ts";
import { commandFor } from "../output.ts";
import { count, duration } from "../terminal/format.ts";
import { bold, type Demo, type DemoOptions, type Played, play } from "./play.ts";

const run = promisify(execFile);

const branchOf = (key: string): string => `maestro/${key}`;

/** A team fixes a failing test in a repository and delivers a branch. */
export const demoRepository = (options: DemoOptions): Promise<void> => play(repairs, options);

const repairs: Demo = {
  name: "demo-repository",
  brief: "Make the failing test pass",
  opening: [
    "A team fixes a failing test in a small git repository. The model is simulated: it plays a script, offline, and costs nothing.",
    "Everything else is real: the repository, its tests, the journal, the kill, the branch.",
  ].join("\n"),
  killedAt: "after the fix was recorded and before it was tested",
  isTheMoment: (event) => event.kind === "step" && event.name === namedTools.edit,
  prepare: ({ project }) => makeRepository(project),
  runFlags: ({ project }) => ["--repo", project],
  resumeFlags: () => [],
  document: async (played) => ({ ...countsOf(played), ...(await lookAt(played)) }),
  summary,
};

function countsOf({ before, after }: Played) {
  const { passed, failed } = after.baseline?.[0] ?? {};
  return {
    status: after.status,
    simulated: after.simulated,
    kept: before.steps,
    steps: after.steps,
    baseline: { passed, failed },
    notPaidTwice: { calls: before.usage.calls },
    calls: after.usage.calls,
    branch: after.delivery?.branch,
  };
}

/** The branch in git, and whether the user's checkout is unchanged. */
async function lookAt({ project, key }: Played) {
  const branch = branchOf(key);
  const lines = (text: string): string[] => text.split("\n").filter((line) => line !== "");
  return {
    commits: lines(await git(project, "log", "--format=%h %s", `main..${branch}`)),
    changed: lines(await git(project, "diff", "--stat", `main..${branch}`)),
    untouched: (await git(project, "status", "--porcelain")) === "",
  };
}

async function* summary(played: Played): AsyncGenerator<string> {
  const { project, stateDir, key, tookMs } = played;
  const { kept, baseline, notPaidTwice } = countsOf(played);
  const { commits, changed, untouched } = await lookAt(played);
  const branch = branchOf(key);
  yield "";
  yield bold(`Done in ${duration(tookMs)}. Killed halfway, and no recorded step was lost or paid twice.`);
  yield `  before       ${baseline.failed} of ${(baseline.passed ?? 0) + (baseline.failed ?? 0)} tests failed before the work began`;
  yield `  kept         all ${kept} steps recorded before the kill; none ran again`;
  yield `  not twice    the ${count(notPaidTwice.calls, "model call")} before the kill`;
  yield `  delivered    ${count(commits.length, "commit")} on the branch ${branch}${untouched ? "; the checkout is not touched" : ""}`;
  for (const line of [...commits, ...changed]) yield `               ${line.trim()}`;
  yield "";
  yield "Try next:";
  yield `  git -C ${quote(project)} log -p main..${branch}`;
  yield `  ${commandFor(stateDir, "diff", key)}`;
  yield `  ${commandFor(stateDir, "apply", key)} && (cd ${quote(project)} && npm test)`;
  yield "On your own repository:";
  yield `  ${commandFor(undefined, "init", "--repo", ".")}`;
}

/** Uses the package's own files and author. The user's git settings do not apply. */
async function makeRepository(folder: string): Promise<void> {
  await cp(fileURLToPath(packageFile("teams/demo-repository/repository")), folder, {
    recursive: true,
    errorOnExist: true,
    force: false,
  }).catch((cause: Error) => {
    throw new InputInvalid(`The repository of the demo cannot be made in ${folder}: ${cause.message}`, {
      cause,
      advice: "Name an empty folder with --out.",
    });
  });
  await git(folder, "init", "--quiet", "--template=", "--initial-branch=main");
  await git(folder, "add", "--all");
  await git(folder, "commit", "--quiet", "--no-gpg-sign", "--message=A calendar");
}

async function git(folder: string, ...args: readonly string[]): Promise<string> {
  const person = ["-c", "user.name=demo", "-c", "user.email=demo@localhost"];
  const env = { ...process.env, GIT_CONFIG_GLOBAL: "/dev/null", GIT_CONFIG_NOSYSTEM: "1" };
  try {
    return (await run("git", [...person, ...args], { cwd: folder, env })).stdout;
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === "ENOENT";
    throw new InputInvalid(
      isMissing ? "There is no git on this machine." : `git failed: ${(cause as Error).message}`,
      {
        cause,
        advice: isMissing ? "Install git, then run the demo again." : "Correct it, then run it again.",
      },
    );
  }
}
