import { expect, onTestFinished, test } from "vitest";
import { answersFor } from "../../../src/cli/on-call.ts";
import { defineTeam, open, persona, phase, type Team } from "../../../src/index.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const advised = async (team: Team, teamFile?: string) => {
  const maestro = await open({ stateDir: temporaryDirectory(), teams: [team], model: "simulated" });
  onTestFinished(() => maestro.close());
  const { id } = await maestro.create(team, { brief: "b", ...(teamFile !== undefined && { teamFile }) });
  const view = await maestro.show(id);
  return answersFor(view, { stateDir: undefined, abandoned: false, now: 0 }).at(-1);
};
const teamOf = (work: Parameters<typeof persona>[1]) =>
  defineTeam("team", { phases: [phase("one", { personas: [persona("worker", work)] })] });
const code = teamOf({ run: () => ({ summary: "done" }) });

test("who asks how to go on is told what works: the command, or the program that has the code", async () => {
  expect(await advised(code)).toBe("Go on with the program that made it: personas of its team are code.");
  expect(await advised(code, "team.ts")).toMatch(/^Go on with: maestro resume \w+$/);
  expect(await advised(teamOf({ instructions: "Work." }))).toMatch(/^Go on with: maestro resume \w+$/);
});
