import { expect, onTestFinished, test } from "vitest";
import { explanationLines } from "../../../src/cli/explanation.ts";
import { defineTeam, open, persona, phase, type Team } from "../../../src/index.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

const advised = async (team: Team, teamFile?: string) => {
  const maestro = await open({ stateDir: temporaryDirectory(), teams: [team], model: "simulated" });
  onTestFinished(() => maestro.close());
  const { id } = await maestro.create(team, { brief: "b", ...(teamFile !== undefined && { teamFile }) });
  const view = await maestro.show(id);
  return explanationLines(view, { stateDir: undefined, abandoned: false }).at(-1)?.text;
};
const teamOf = (work: Parameters<typeof persona>[1]) =>
  defineTeam("team", { phases: [phase("one", { personas: [persona("worker", work)] })] });
const code = teamOf({ run: () => ({ summary: "done" }) });

test("the way to resume is a command, or the program that defines personas as code", async () => {
  expect(await advised(code)).toBe(
    "Start the program that defines its team again: personas of the team are code.",
  );
  expect(await advised(code, "team.ts")).toMatch(/^Resume with: maestro resume \w+$/);
  expect(await advised(teamOf({ instructions: "Work." }))).toMatch(/^Resume with: maestro resume \w+$/);
});
