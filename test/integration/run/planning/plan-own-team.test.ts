import { describe, expect, test } from "vitest";
import type { Classification } from "../../../../src/run/planning/classification.ts";
import { planTeam } from "../../../../src/run/planning/plan-team.ts";
import type { TeamDefinition } from "../../../../src/team/definition/team-definition.ts";
import { definitionOf, fileTeam, works } from "../../../unit/team/written-team.ts";

const namesIn = ({ phases }: TeamDefinition, phase: string): readonly string[] =>
  phases.find(({ name }) => name === phase)?.personas.map(({ name }) => name) ?? [];

describe("a custom team", () => {
  const brief: Classification = {
    type: "feature",
    complexity: "small",
    parallelism: "few",
    expertise: ["backend"],
    risks: [],
    confidence: 1,
  };
  const delivers = (file: string) => works({ contract: { deliverables: [file] } });

  test("keeps the personas that the rules do not know", () => {
    const own = definitionOf(
      fileTeam([{ name: "make", personas: ["poet", "database_specialist", "toString", "constructor"] }]),
    );
    expect(namesIn(planTeam(own, brief).definition, "make")).toEqual(["poet", "toString", "constructor"]);
  });

  test("keeps at least one persona in each phase", () => {
    const own = definitionOf(
      fileTeam([{ name: "make", personas: ["database_specialist", "security_specialist"] }]),
    );
    expect(namesIn(planTeam(own, brief).definition, "make")).toEqual(["database_specialist"]);
  });

  test("keeps a persona that a gate can judge", () => {
    const own = definitionOf(
      fileTeam([{ name: "testing", gate: 1, personas: ["test_engineer", "qa_engineer"] }], {
        qa_engineer: delivers("report.md"),
      }),
    );
    expect(namesIn(planTeam(own, brief).definition, "testing")).toEqual(["test_engineer", "qa_engineer"]);
  });

  test("runs no more personas in parallel than it allows, and fewer where little is independent", () => {
    const own = definitionOf(fileTeam([{ name: "make", personas: ["a"] }], {}, { parallel: 3 }));
    const parallel = (parallelism: Classification["parallelism"]) =>
      planTeam(own, { ...brief, parallelism }).definition.parallel;
    expect([parallel("few"), parallel("some"), parallel("many")]).toEqual([2, 3, 3]);
    expect(planTeam({ ...own, parallel: 1 }, brief).definition.parallel).toBe(1);
  });
});
