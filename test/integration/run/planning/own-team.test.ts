import { expect, test } from "vitest";
import { classifyByRules } from "../../../../src/run/planning/classify-brief.ts";
import { planFor } from "../../../../src/run/planning/plan-session.ts";
import { defineTeam, type PersonaOptions, persona, phase } from "../../../../src/team/define.ts";

const work: PersonaOptions = { instructions: "Do your part." };

/** None of these names is one that the rules know. */
function chosenFor(brief: string, personas: Readonly<Record<string, PersonaOptions>>) {
  const team = defineTeam("own", {
    planning: "rules",
    phases: [
      phase("make", { personas: Object.entries(personas).map(([name, options]) => persona(name, options)) }),
    ],
  });
  const { team: planned, decisions } = planFor(team, classifyByRules(brief));
  const [made] = planned.definition.phases;
  const { reason = "", rejected = [] } = decisions.find(({ title }) => title === "Personas") ?? {};
  return { names: made?.personas.map(({ name }) => name), reason, rejected };
}

test("a custom persona works where its name shows that it is needed, and the reason is recorded", () => {
  const personas = { api_builder: work, frontend_crew: work, "db-admin": work, lead: work };
  const { names, reason, rejected } = chosenFor("Fix the API of the import job.", personas);
  expect(names).toEqual(["api_builder", "lead"]);
  expect(reason).toContain("api_builder (make): by its own description it is there for backend");
  expect(reason).toContain("lead (make): neither its name nor its instructions name an expertise");
  expect(rejected).toEqual([
    expect.stringMatching(/^frontend_crew in make: by its own description it is there for frontend/),
    expect.stringMatching(/^db-admin in make: .* database/),
  ]);
});

test("without an expertise in its name, the first sentence of its instructions decides", () => {
  const personas = {
    anna: { instructions: "You build the frontend. You never touch the database." },
    ben: { instructions: "You care for the database.\nKeep it small." },
    cleo: { run: async () => ({ summary: "done", outputs: {} }) },
  };
  expect(chosenFor("A new page with a button in the web UI, no database.", personas).names).toEqual([
    "anna",
    "cleo",
  ]);
  expect(chosenFor("Add an index to the database, no frontend.", personas).names).toEqual(["ben", "cleo"]);
});

test("a testing persona works wherever there is code", () => {
  const personas = { qa: work, "ui-crew": work };
  expect(chosenFor("Fix the API of the import job.", personas).names).toEqual(["qa"]);
});

test("every phase keeps at least one persona", () => {
  expect(chosenFor("Fix the API of the import job.", { "ui-crew": work }).names).toEqual(["ui-crew"]);
});
