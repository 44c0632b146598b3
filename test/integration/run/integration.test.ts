import { describe, expect, it, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { integrationProblems } from "../../../src/team/definition/integration.ts";
import type { TeamDefinition } from "../../../src/team/definition/team-definition.ts";
import { definitionOf, fileTeam, works } from "../../unit/team/written-team.ts";
import { TeamPlace } from "./place.ts";

const delivers = { contract: { deliverables: ["docs/a.md"] } };
const twoPhases = [
  { name: "a", personas: ["maker"] },
  { name: "b", personas: ["reader"] },
];
const problems = (maker: object, reader: object = {}) =>
  integrationProblems(
    definitionOf(fileTeam(twoPhases, { maker: works({ ...maker }), reader: works({ ...reader }) })),
  );

test("contracts that fit have no problems", () => {
  expect(problems(delivers, { consumes: ["maker"] })).toEqual([]);
  expect(problems(delivers)).toEqual([]);
  expect(problems({})).toEqual([]);
});

describe("a missing provider", () => {
  test("that delivers nothing gives its consumers a warning", () => {
    expect(problems({}, { consumes: ["maker"] })).toEqual([
      {
        severity: "warning",
        kind: "missing-provider",
        phase: "b",
        persona: "reader",
        message: "reader consumes maker, whose contract promises neither deliverables nor outputs.",
      },
    ]);
    expect(problems({ contract: { outputs: { type: "object" } } }, { consumes: ["maker"] })).toEqual([]);
  });

  test("that does not exist blocks the start", () => {
    const definition = definitionOf(
      fileTeam(twoPhases, { reader: works({ consumes: ["maker"] }), maker: works(delivers) }),
    );
    const without: TeamDefinition = { ...definition, phases: definition.phases.slice(1) };
    expect(integrationProblems(without)).toMatchObject([
      { severity: "blocking", kind: "missing-provider", phase: "b", persona: "reader" },
    ]);
  });
});

describe("a contract that cannot be fulfilled", () => {
  const writable = (write: readonly string[], more: object = {}) =>
    problems({
      contract: { deliverables: [{ name: "doc", files: ["docs/a.md"], ...more }] },
      policy: { write },
    });

  test("is one with a file that the policy forbids the persona to write", () => {
    expect(writable(["src/**"])).toEqual([
      {
        severity: "blocking",
        kind: "unfulfilled-contract",
        phase: "a",
        persona: "maker",
        message: "maker must deliver docs/a.md, which its policy does not let it write.",
      },
    ]);
    expect(writable(["src/**"], { must: false })).toMatchObject([{ severity: "warning" }]);
    expect(writable(["docs/**"])).toEqual([]);
    expect(writable(["src/**", "docs/*.md"])).toEqual([]);
    // Whether two patterns overlap cannot be decided.
    expect(writable(["src/**"], { files: ["docs/*.md"] })).toEqual([]);
  });

  test("is one with files for a persona without a tool to write them", () => {
    expect(problems({ ...delivers, tools: ["read_file"] })).toMatchObject([
      {
        severity: "blocking",
        kind: "unfulfilled-contract",
        message: "maker must deliver docs/a.md and has no tool to write files.",
      },
    ]);
    expect(problems({ ...delivers, tools: ["edit_file"] })).toEqual([]);
  });
});

describe("a missing consumer", () => {
  const warning = { severity: "warning", kind: "missing-consumer", phase: "a", persona: "maker" };

  test("is a warning when all later personas consume others", () => {
    expect(problems(delivers, { consumes: [] })).toMatchObject([warning]);
  });

  test("is no problem when a later persona reads everything, or none comes later", () => {
    const team = (reader: object) =>
      integrationProblems(
        definitionOf(
          fileTeam([...twoPhases, { name: "c", personas: ["last"] }], {
            maker: works(delivers),
            reader: works({ consumes: [], contract: { deliverables: ["b"] } }),
            last: works({ ...reader, contract: { deliverables: ["c"] } }),
          }),
        ),
      );
    expect(team({})).toEqual([]);
    expect(team({ consumes: ["reader"] })).toMatchObject([warning]);
    expect(team({ consumes: ["reader", "maker"] })).toEqual([]);
  });

  test("is no problem when a persona of the same phase consumes it", () => {
    const definition = definitionOf(
      fileTeam(
        [
          { name: "a", personas: ["maker", "critic"] },
          { name: "b", personas: ["reader"] },
        ],
        {
          maker: works(delivers),
          critic: works({ consumes: ["maker"] }),
          reader: works({ consumes: [] }),
        },
      ),
    );
    expect(integrationProblems(definition)).toEqual([]);
  });
});

test("the largest team is checked in time", () => {
  const phases = Array.from({ length: 1_000 }, (_, index) => ({
    name: `p${index}`,
    personas: Array.from({ length: 10 }, (_, place) => `a${index}x${place}`),
  }));
  const personas = Object.fromEntries(
    phases.flatMap(({ personas }, index) =>
      personas.map((name) => [name, works({ consumes: index === 0 ? [] : [`a${index - 1}x0`] })]),
    ),
  );
  const definition = definitionOf(fileTeam(phases, personas));
  expect(integrationProblems(definition)).toHaveLength(9_990);
});

describe("a team that cannot fulfill its contracts", () => {
  const promise = { contract: { deliverables: ["docs/a.md"] } };
  const barred = { ...promise, policy: { write: ["src/**"] } };

  async function place(more: object) {
    const at = new TeamPlace();
    const team = (b: object) =>
      defineTeam("early", {
        phases: [
          phase("a", { personas: [persona("maker", { run: at.work("maker") })] }),
          phase("b", { personas: [persona("reader", { run: at.work("reader"), ...b })] }),
          phase("c", { personas: [persona("last", { run: at.work("last"), ...more })] }),
        ],
      });
    return { at, maestro: await at.open(), team };
  }
  const refused = {
    code: "TEAM_INVALID",
    message: expect.stringMatching(/cannot succeed: reader must deliver docs\/a\.md/),
  };

  it("is refused before a persona works, and possible problems are only reported", async () => {
    const { at, maestro, team } = await place({ consumes: ["reader"] });
    await expect(maestro.start(team(barred), { brief: "x" })).rejects.toMatchObject(refused);
    expect(at.events).toEqual([]);
    const session = await maestro.start(team({}), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(at.notices).toContainEqual(expect.stringMatching(/last consumes reader, whose contract promises/));
  });

  it("is refused as an accepted change and in a fork in the same way", async () => {
    const { at, maestro, team } = await place({});
    const session = await maestro.start(team({}), { brief: "x", until: "a" });
    await session.result();
    const changed = { team: team(barred), acceptChanges: true };
    await expect(maestro.plan(session.id, changed)).rejects.toMatchObject(refused);
    const resume = async () => (await maestro.resume(session.id, changed)).result();
    await expect(resume()).rejects.toMatchObject(refused);
    const fork = { at: "b", team: team(barred) };
    await expect(maestro.planFork(session.id, fork)).rejects.toMatchObject(refused);
    await expect(maestro.fork(session.id, fork)).rejects.toMatchObject(refused);
    expect(at.ran).toEqual(["maker"]);
    expect(await maestro.show(session.id)).toMatchObject({ status: "paused" });
  });
});
