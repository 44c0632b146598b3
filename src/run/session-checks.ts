import type { CheckRun } from "../domain/check-verdict.ts";
import { type Check, checkKey } from "../domain/contract.ts";
import { SetupFailed } from "../domain/errors.ts";
import { parseJson } from "../domain/json.ts";
import type { TestNames } from "../domain/test-report.ts";
import type { SessionState } from "../journal/session-state.ts";
import type { Blobs } from "../store/blobs.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import type { ClaimedSession, Drive } from "./drive.ts";
import { readChecksOnly } from "./programs/read-checks-only.ts";

/** The checks of one session: their commands get the files that only they may read. */
export function checksOf({ checks, journal, stateDirectory }: ClaimedSession): Drive["checks"] {
  return journal.state.created.source?.checksOnly === undefined
    ? checks
    : checks.withExtraFiles(() => readChecksOnly(journal.state, stateDirectory));
}

/** Each is judged beside the same command on the files that the session began with. */
export function besideBaseline(session: ClaimedSession): Drive["checks"] {
  const { journal, artifacts } = session;
  const checks = checksOf(session);
  return {
    withLayers: (layersFor) => checks.withLayers(layersFor),
    withExtraFiles: (read) => checks.withExtraFiles(read),
    judgeFiles: (...files) => checks.judgeFiles(...files),
    measure: (...command) => checks.measure(...command),
    isInstalled: (program) => checks.isInstalled(program),
    run: async (check, tree, signal) =>
      checks.run(
        check,
        tree,
        signal,
        check.must === "no-worse" ? await baseOf(check, journal.state, artifacts) : undefined,
      ),
  };
}

async function baseOf(
  check: Check,
  { baseline }: SessionState,
  artifacts: Blobs,
): Promise<CheckRun | undefined> {
  const run = baseline.get(checkKey(check));
  if (run === undefined || run.status === "not-run") return undefined;
  const { exitCode, tests, names } = run;
  if (tests === undefined || names === undefined) return { exitCode, tests };
  return {
    exitCode,
    tests: { ...tests, names: parseJson(await artifacts.get(names)) as unknown as TestNames },
  };
}

/** Where there is nothing to measure on: a program that is not installed fails every attempt, and is known before. */
export async function refuseMissingPrograms(
  phases: TeamDefinition["phases"],
  { checks, journal }: ClaimedSession,
): Promise<void> {
  if (journal.state.created.source !== undefined) return;
  const needed = phases.flatMap(({ personas }) =>
    personas.flatMap(({ name: persona, contract }) =>
      contract.checks.flatMap((check) => (check.must === false ? [] : [{ persona, check }])),
    ),
  );
  const known = new Map<string, boolean>();
  for (const { persona, check } of needed) {
    const program = check.run[0] ?? "";
    if (!known.has(program)) known.set(program, await checks.isInstalled(program));
    if (known.get(program) === true) continue;
    throw new SetupFailed(
      `The check ${check.name} of ${persona} cannot be started: ${program} is not installed.`,
      {
        details: { check: check.name, persona, run: check.run },
        advice: `Install ${program} on this machine.`,
      },
    );
  }
}
