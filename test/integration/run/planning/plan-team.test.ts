import { beforeAll, describe, expect, test } from "vitest";
import { judge } from "../../../../src/domain/contract.ts";
import { blueprints } from "../../../../src/run/planning/blueprints.ts";
import {
  briefTypes,
  complexities,
  type Expertise,
  expertises,
  parallelisms,
} from "../../../../src/run/planning/classification.ts";
import { classifyBrief } from "../../../../src/run/planning/classify-brief.ts";
import { planTeam } from "../../../../src/run/planning/plan-team.ts";
import { builtInTeam } from "../../../../src/team/built-in.ts";
import { integrationProblems } from "../../../../src/team/definition/integration.ts";
import { groupsOf, orderPhases } from "../../../../src/team/definition/order.ts";
import { Problems } from "../../../../src/team/definition/place.ts";
import { readTeam } from "../../../../src/team/definition/read-team.ts";
import type { PersonaDefinition, TeamDefinition } from "../../../../src/team/definition/team-definition.ts";
import { definitionOf, fileTeam, works } from "../../../unit/team/written-team.ts";
import { corpus } from "./corpus.ts";

let team: TeamDefinition;
beforeAll(async () => {
  team = (await builtInTeam("software-delivery")).definition;
});

const planFor = (brief: string): TeamDefinition => planTeam(team, classifyBrief(brief)).definition;

const namesIn = ({ phases }: TeamDefinition, phase: string): readonly string[] =>
  phases.find(({ name }) => name === phase)?.personas.map(({ name }) => name) ?? [];

const allPersonas = ({ phases }: TeamDefinition): readonly PersonaDefinition[] =>
  phases.flatMap(({ personas }) => personas);

/** The text of a module that gives this definition. */
function written({ name, description, parallel, phases }: TeamDefinition): unknown {
  return {
    name,
    description,
    parallel,
    phases: phases.map(({ name, dependsOn, review, gate, personas }) => ({
      name,
      dependsOn,
      review,
      gate: gate ?? undefined,
      personas: personas.map(({ name, work, consumes, contract, policy }) => ({
        name,
        instructions: work.kind === "model" ? work.instructions : "",
        consumes: consumes ?? undefined,
        contract,
        policy: { ...(policy.write !== null && { write: policy.write }) },
      })),
    })),
  };
}

/** Everything that must hold of a team that is about to run. */
function expectSound(definition: TeamDefinition): void {
  const problems = new Problems();
  readTeam(written(definition), "module", problems);
  expect(problems.found.map(({ sentence }) => sentence)).toEqual([]);
  // No warning: every deliverable has a reader, and every reader has a deliverable.
  expect(integrationProblems(definition)).toEqual([]);
  expect(definition.phases.map(({ name, gate }) => [name, gate?.threshold])).toEqual([
    ["requirements", 0.75],
    ["design", 0.8],
    ["implementation", 0.7],
    ["testing", 0.85],
    ["deployment", 0.9],
  ]);
  expect(orderPhases(definition)).toHaveLength(5);
  for (const phase of definition.phases) {
    expect(phase.personas.length).toBeGreaterThanOrEqual(1);
    expect(groupsOf(phase).flat()).toHaveLength(phase.personas.length);
    for (const { contract } of phase.personas) expect(contract.deliverables.length).toBeGreaterThan(0);
    expectReachable(phase.personas, phase.gate?.threshold);
  }
}

const failingTests = "javascript-tests-pass";

/** With all that must pass, and nothing else, the gate is reached; with failing tests alone it is not. */
function expectReachable(personas: readonly PersonaDefinition[], threshold: number | undefined): void {
  const declared = personas.flatMap(({ contract: { deliverables, checks } }) => [...deliverables, ...checks]);
  const verdictIf = (
    passes: (check: { readonly name: string; readonly must: boolean | "no-worse" }) => boolean,
  ) =>
    judge(
      declared.map((check) => ({
        ...check,
        kind: "command",
        status: passes(check) ? "passed" : "failed",
        message: "",
        failures: [],
      })),
      threshold,
    ).verdict;
  expect(verdictIf(({ must, name }) => must !== false || name === failingTests)).toBe("passed");
  if (!declared.some(({ name }) => name === failingTests)) return;
  expect(verdictIf(({ name }) => name !== failingTests)).toBe("failed");
}

describe("the team of every brief can run", () => {
  test.each(corpus)("$brief", ({ brief }) => {
    const definition = planFor(brief);
    expectSound(definition);
    expect(definition.plan?.blueprint).toBeDefined();
  });

  test("the team of every kind of classification can run", () => {
    // Rules look at one or two kinds of expertise at a time: pairs reach them all.
    const subsets = [
      ...expertises.flatMap((one, index) =>
        expertises.slice(index).map((other) => [...new Set([one, other])]),
      ),
      [...expertises],
    ];
    const plans = new Map<string, TeamDefinition>();
    for (const type of briefTypes) {
      for (const complexity of complexities) {
        for (const expertise of subsets) {
          const parallelism = parallelisms[expertise.length % 3] ?? "few";
          const brief = { type, complexity, parallelism, expertise, risks: [], confidence: 1 };
          const { definition } = planTeam(team, brief);
          plans.set(JSON.stringify(definition), definition);
        }
      }
    }
    expect(plans.size).toBeGreaterThan(100);
    for (const definition of plans.values()) expectSound(definition);
    // Some brief needs each persona, and some brief each blueprint.
    const used = new Set([...plans.values()].flatMap((plan) => allPersonas(plan).map(({ name }) => name)));
    expect(used).toEqual(new Set(allPersonas(team).map(({ name }) => name)));
    expect(new Set([...plans.values()].map(({ plan }) => plan?.blueprint))).toEqual(
      new Set(blueprints.map(({ name }) => name)),
    );
  });
});

describe("exactly the needed personas are chosen", () => {
  test.each<[brief: string, blueprint: string, phases: Record<string, readonly string[]>]>([
    [
      "A command line tool that counts words.",
      "backend-service",
      {
        requirements: ["requirement_analyst"],
        design: ["solution_architect"],
        implementation: ["backend_developer"],
        testing: ["test_engineer"],
        deployment: ["devops_engineer"],
      },
    ],
    [
      "Build a REST API for todo items with SQLite. No frontend.",
      "backend-service",
      { design: ["solution_architect", "database_specialist"], implementation: ["backend_developer"] },
    ],
    [
      "A parking app for one city",
      "full-delivery",
      {
        design: ["solution_architect", "ui_ux_designer"],
        implementation: ["backend_developer", "frontend_developer"],
        testing: ["test_engineer", "qa_engineer"],
        deployment: ["devops_engineer"],
      },
    ],
    [
      "Create a landing page, no backend.",
      "frontend-app",
      { design: ["solution_architect", "ui_ux_designer"], implementation: ["frontend_developer"] },
    ],
    [
      "Migrate our MySQL database to PostgreSQL.",
      "data",
      { design: ["solution_architect", "database_specialist"], implementation: ["backend_developer"] },
    ],
    [
      "Document the REST API of the order service.",
      "documentation",
      {
        design: ["solution_architect"],
        implementation: ["technical_writer"],
        testing: ["qa_engineer"],
        deployment: ["technical_writer"],
      },
    ],
    [
      "Fix the login page: users cannot log in.",
      "fix",
      {
        design: ["solution_architect", "security_specialist"],
        implementation: ["backend_developer", "frontend_developer"],
        testing: ["test_engineer"],
      },
    ],
    [
      "Set up CI/CD with GitHub Actions.",
      "infrastructure",
      { implementation: ["devops_engineer"], deployment: ["devops_engineer"] },
    ],
    ["Compare PostgreSQL and MongoDB.", "research", { implementation: ["technical_writer"] }],
  ])("%s -> %s", (brief, blueprint, phases) => {
    const definition = planFor(brief);
    expect(definition.plan?.blueprint).toBe(blueprint);
    for (const [phase, names] of Object.entries(phases)) expect(namesIn(definition, phase)).toEqual(names);
  });

  test("a large brief gets all eleven", () => {
    const brief = corpus.find(
      ({ complexity, expertise }) => complexity === "large" && expertise.includes("ux"),
    );
    const names = new Set(allPersonas(planFor(brief?.brief ?? "")).map(({ name }) => name));
    expect(names.size).toBe(11);
  });
});

describe("contracts follow the blueprint", () => {
  const contractOf = (brief: string, persona: string) =>
    allPersonas(planFor(brief)).find(({ name }) => name === persona)?.contract;

  test("a fix has a reproduction and a regression test", () => {
    const brief = "Fix the crash of the import job.";
    expect(contractOf(brief, "requirement_analyst")).toMatchObject({
      deliverables: [
        { files: ["docs/requirements.md"] },
        { name: "reproduction", files: ["docs/reproduction.md"] },
      ],
    });
    expect(contractOf(brief, "requirement_analyst")?.checks.map(({ name }) => name)).toContain(
      "reproduction-has-title",
    );
    expect(contractOf(brief, "test_engineer")?.deliverables.map(({ files }) => files)).toContainEqual([
      "test/regression/**",
    ]);
  });

  test("without a blueprint the contracts of the team file hold", () => {
    const own = allPersonas(team).find(({ name }) => name === "backend_developer")?.contract;
    expect(contractOf("Fix the crash of the import job.", "backend_developer")).toEqual(own);
  });

  test("functions, and personas whose policy forbids the files, get no further deliverables", () => {
    const classification = classifyBrief("Fix the crash of the import job.");
    const bound = definitionOf(
      fileTeam([{ name: "requirements", personas: ["requirement_analyst"] }], {
        requirement_analyst: works({ policy: { write: ["notes/**"] } }),
      }),
    );
    const { definition } = planTeam(bound, classification);
    expect(allPersonas(definition)[0]?.contract.deliverables).toEqual([]);
    expect(integrationProblems(definition)).toEqual([]);
  });
});

describe("consumers and providers", () => {
  test("personas consume only from present ones", () => {
    const developer = allPersonas(planFor("A command line tool that counts words.")).find(
      ({ name }) => name === "backend_developer",
    );
    expect(developer?.consumes).toEqual(["requirement_analyst", "solution_architect"]);
  });

  test("a deliverable whose consumer is absent is read by the next persona", () => {
    const definition = definitionOf(
      fileTeam(
        [
          { name: "design", personas: ["writer", "painter"] },
          { name: "implementation", personas: ["poet", "frontend_developer"] },
        ],
        {
          writer: works({ contract: { deliverables: ["a.md"] } }),
          painter: works({ contract: { deliverables: ["b.md"] } }),
          poet: works({ consumes: ["writer"] }),
          frontend_developer: works({ consumes: ["painter"] }),
        },
      ),
    );
    const planned = planTeam(definition, classifyBrief("Fix the crash of the import job.")).definition;
    expect(namesIn(planned, "implementation")).toEqual(["poet"]);
    expect(allPersonas(planned).at(-1)?.consumes).toEqual(["writer", "painter"]);
    expect(integrationProblems(planned)).toEqual([]);
  });

  test("a persona that loses all its providers reads everything so far", () => {
    const definition = definitionOf(
      fileTeam(
        [
          { name: "design", personas: ["writer", "database_specialist"] },
          { name: "testing", personas: ["reader"] },
        ],
        { reader: works({ consumes: ["database_specialist"] }) },
      ),
    );
    const planned = planTeam(definition, classifyBrief("Fix the crash of the import job.")).definition;
    expect(namesIn(planned, "design")).toEqual(["writer"]);
    expect(allPersonas(planned).find(({ name }) => name === "reader")?.consumes).toBeNull();
  });
});

describe("decisions are recorded", () => {
  const decided = (brief: string) => planTeam(team, classifyBrief(brief)).decisions;

  test("with the rejected options and the reasons", () => {
    const [blueprint, personas, contracts] = decided(
      "Build a REST API for todo items with SQLite. No frontend.",
    );
    expect(blueprint).toMatchObject({ title: "Blueprint", choice: "backend-service" });
    expect(blueprint?.rejected).toHaveLength(blueprints.length - 1);
    expect(blueprint?.rejected).toContainEqual(
      expect.stringMatching(/^fix \(.*\): the brief is of type feature$/),
    );
    expect(blueprint?.rejected).toContainEqual(
      expect.stringMatching(/^data \(.*\): the brief needs backend as well$/),
    );
    expect(blueprint?.rejected).toContainEqual(
      expect.stringMatching(/^full-delivery \(.*\): backend-service fits more closely$/),
    );
    expect(personas?.title).toBe("Personas");
    expect(personas?.choice).toContain("design: solution_architect, database_specialist;");
    expect(personas?.rejected).toContain(
      "frontend_developer in implementation: the brief does not ask for frontend work",
    );
    expect(contracts).toMatchObject({
      title: "Contracts",
      choice: expect.stringContaining("docs/interfaces.md"),
    });
    expect(contracts?.rejected).toContain("backend_developer reading from security_specialist: not there");
  });

  test("for every brief: each title once, nothing empty, every persona either chosen or rejected", () => {
    const places = team.phases.flatMap(({ name, personas }) =>
      personas.map((persona) => `${persona.name} in ${name}`),
    );
    for (const { brief } of corpus) {
      const decisions = decided(brief);
      expect(new Set(decisions.map(({ title }) => title)).size).toBe(decisions.length);
      for (const { choice, reason, rejected } of decisions) {
        expect(choice.trim()).not.toBe("");
        expect(reason.trim()).not.toBe("");
        expect(rejected).not.toContain("");
      }
      const working = planFor(brief).phases.flatMap(({ name, personas }) =>
        personas.map((persona) => `${persona.name} in ${name}`),
      );
      const rejected = (decisions[1]?.rejected ?? []).map((text) => text.split(":")[0]);
      expect(new Set([...working, ...rejected])).toEqual(new Set(places));
      expect([...working, ...rejected]).toHaveLength(places.length);
    }
  });

  test("the same brief is decided the same way", () => {
    const brief = "Fix the login page";
    expect(planTeam(team, classifyBrief(brief))).toEqual(planTeam(team, classifyBrief(brief)));
  });
});

test("an expertise that is not needed adds no persona", () => {
  const base = {
    type: "feature",
    complexity: "small",
    parallelism: "few",
    risks: [],
    confidence: 1,
  } as const;
  const names = (expertise: readonly Expertise[]) =>
    allPersonas(planTeam(team, { ...base, expertise }).definition).map(({ name }) => name);
  expect(names(["backend", "security"])).toEqual(names(["backend"]).toSpliced(2, 0, "security_specialist"));
});
