import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../../src/index.ts";
import { describeChanges } from "../../../../src/team/definition/changes.ts";
import { definitionOf, fileTeam, problemsOf } from "../../../unit/team/written-team.ts";

const written = (more: Readonly<Record<string, unknown>>) =>
  fileTeam([{ name: "make", personas: ["a"] }], {}, more);

test.each(["rules", "model"])("a team may ask for planning by %s", (planning) => {
  expect(definitionOf(written({ planning })).planning).toBe(planning);
});

test("planning is off by default, and setting it off changes nothing", () => {
  expect(definitionOf(written({ planning: "off" }))).toStrictEqual(definitionOf(written({})));
  expect("planning" in definitionOf(written({}))).toBe(false);
});

test("is the same in code and in a file", () => {
  const phases = [phase("make", { personas: [persona("a", { instructions: "Do it." })] })];
  expect(defineTeam("team", { planning: "rules", phases }).definition).toStrictEqual(
    definitionOf(written({ planning: "rules" })),
  );
  // @ts-expect-error there is no such planning
  expect(() => defineTeam("team", { planning: "guess", phases })).toThrow('planning is "guess"');
});

test.each([
  [{ planning: "rule" }, 'the team: planning is "rule"; it must be "rules" or "model" or "off".'],
  [{ planning: true }, 'the team: planning is true; it must be "rules" or "model" or "off".'],
  [{ planing: "rules" }, 'the team has an unknown key "planing". Did you mean "planning"?'],
  // A team file has no plan: the session makes it.
  [{ plan: { blueprint: "fix" } }, 'the team has an unknown key "plan".'],
])("%j is refused", (more, problem) => {
  expect(problemsOf(written(more)).join(" ")).toContain(problem);
});

test("a session whose team was planned in another way reports the change", () => {
  const team = definitionOf(written({}));
  const plan = { from: "x", blueprint: "fix", parallelism: "few" } as const;
  expect(describeChanges({ ...team, plan }, team)).toEqual(["blueprint changed from fix to unset"]);
});
