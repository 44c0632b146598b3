import { describe, expect, test } from "vitest";
import {
  changedPersonas,
  describeChanges,
  rejudgedPhases,
  rewiredPhases,
} from "../../../src/team/definition/changes.ts";
import { personaFingerprint, teamFingerprint } from "../../../src/team/definition/fingerprint.ts";
import type { TeamDefinition } from "../../../src/team/definition/team-definition.ts";
import { definitionOf, fileTeam, works } from "./written-team.ts";

type Written = Readonly<Record<string, unknown>>;

const check = { name: "lint", run: ["npm", "run", "lint"] };
const base = {
  phases: [
    { name: "requirements", personas: ["analyst"] },
    { name: "design", personas: ["architect", "critic"] },
    { name: "ship", personas: ["agent"] },
  ],
  personas: {
    analyst: works({ contract: { deliverables: ["docs/a.md"], checks: [check] } }),
    architect: works({ consumes: ["analyst"], model: "openai/a" }),
    critic: works(),
    agent: { command: ["claude", "-p"], reserve: { usd: 1 } },
  } as Record<string, Written>,
};

function define({
  phases = base.phases,
  personas = {},
  more = {},
}: {
  readonly phases?: readonly Written[];
  readonly personas?: Readonly<Record<string, Written>>;
  readonly more?: Written;
} = {}): TeamDefinition {
  const named = new Set(phases.flatMap((phase) => phase["personas"] as string[]));
  const described = Object.entries({ ...base.personas, ...personas }).filter(([name]) => named.has(name));
  return definitionOf(fileTeam(phases, Object.fromEntries(described), { model: "simulated", ...more }));
}

/** One persona with these keys on top of its own. */
const withPersona = (name: string, keys: Written) =>
  define({ personas: { [name]: { ...base.personas[name], ...keys } } });
const withPhase = (name: string, keys: Written) =>
  define({ phases: base.phases.map((phase) => (phase.name === name ? { ...phase, ...keys } : phase)) });

const places = (after: TeamDefinition) =>
  changedPersonas(define(), after).map(({ phase, persona, reason }) => `${phase}/${persona} ${reason}`);

test("a team that did not change has no changes", () => {
  expect(describeChanges(define(), define())).toEqual([]);
  expect(places(define())).toEqual([]);
  expect(teamFingerprint(define())).toBe(teamFingerprint(define()));
});

describe("a change of a persona's work is described and discards its result", () => {
  test.each<[string, Written, readonly string[]]>([
    ["architect", { instructions: "Do more." }, ["instructions changed"]],
    ["architect", { model: "openai/b" }, ["model changed from openai/a to openai/b"]],
    ["architect", { fallbackModels: ["simulated"] }, ["fallbackModels changed from [] to [simulated]"]],
    ["architect", { temperature: 1 }, ["temperature changed from unset to 1"]],
    ["architect", { maxSteps: 9 }, ["maxSteps changed from unset to 9"]],
    ["architect", { consumes: undefined }, ["consumes changed from [analyst] to unset"]],
    [
      "architect",
      { consumes: ["analyst", "critic"] },
      ["consumes changed from [analyst] to [analyst, critic]"],
    ],
    ["architect", { tools: ["read_file"] }, ["tools changed from unset to [read_file, submit]"]],
    ["architect", { policy: { write: ["docs/**"] } }, ["policy.write changed from unset to [docs/**]"]],
    [
      "architect",
      { instructions: undefined, model: undefined, command: ["x"] },
      ["work changed from a model to a command"],
    ],
    [
      "analyst",
      { contract: { deliverables: ["docs/b.md"], outputs: {}, checks: [{ ...check, must: false }] } },
      [
        "contract: deliverable docs/b.md was added",
        "contract: deliverable docs/a.md was removed",
        "contract: outputs was added",
        "contract: check lint changed",
      ],
    ],
    ["agent", { command: ["codex", "exec"] }, ["command changed"]],
    ["agent", { network: false }, ["network changed from on to off"]],
    ["agent", { env: ["HOME"] }, ["env changed from [] to [HOME]"]],
  ])("%s %j", (persona, keys, changes) => {
    const after = withPersona(persona, keys);
    const { name } = after.phases.find(({ personas }) => personas.some(({ name }) => name === persona)) ?? {};
    expect(describeChanges(define(), after)).toEqual(
      changes.map((change) => `phase ${name}: persona ${persona}: ${change}`),
    );
    expect(places(after)).toEqual([`${name}/${persona} changed`]);
    expect(teamFingerprint(after)).not.toBe(teamFingerprint(define()));
  });

  test("the team's model is that of every persona without one", () => {
    const after = define({ more: { model: "openai/c" } });
    expect(describeChanges(define(), after)).toEqual(["model changed from simulated to openai/c"]);
    expect(places(after)).toEqual(["requirements/analyst changed", "design/critic changed"]);
  });
});

describe("a change of limits or checks is described and keeps the result", () => {
  test.each<[string, TeamDefinition, readonly string[]]>([
    [
      "attempts",
      withPersona("critic", { maxAttempts: 5 }),
      ["phase design: persona critic: maxAttempts changed from unset to 5"],
    ],
    [
      "a timeout",
      withPersona("critic", { timeoutMs: 5 }),
      ["phase design: persona critic: timeoutMs changed from unset to 5"],
    ],
    [
      "healing",
      withPersona("critic", { healing: "off" }),
      ["phase design: persona critic: healing changed from on to off"],
    ],
    [
      "a budget",
      withPersona("critic", { budget: { tokens: 5, usd: 0.5 } }),
      ["phase design: persona critic: budget changed from unset to tokens 5, usd 0.5"],
    ],
    [
      "a reserve",
      withPersona("agent", { reserve: { usd: 2 } }),
      ["phase ship: persona agent: reserve changed from usd 1 to usd 2"],
    ],
    [
      "a gate",
      withPhase("requirements", { gate: 0.8 }),
      ["phase requirements: gate changed from unset to threshold 0.8, onFail review"],
    ],
    ["a review", withPhase("design", { review: true }), ["phase design: review changed from off to on"]],
    [
      "a phase's budget",
      withPhase("design", { budget: { usd: 9 } }),
      ["phase design: budget changed from unset to usd 9"],
    ],
    ["how many at once", define({ more: { parallel: 8 } }), ["parallel changed from 4 to 8"]],
    ["a description", define({ more: { description: "New." } }), ["description was added"]],
  ])("%s", (_title, after, changes) => {
    expect(describeChanges(define(), after)).toEqual(changes);
    expect(places(after)).toEqual([]);
    expect(teamFingerprint(after)).not.toBe(teamFingerprint(define()));
  });
});

describe("phases and personas that come and go", () => {
  test("are said first: phases, then personas, then what is in them", () => {
    const after = define({
      phases: [
        { name: "requirements", personas: ["analyst", "lawyer"] },
        { name: "design", personas: ["architect"], review: true },
        { name: "testing", personas: ["tester"] },
      ],
      personas: {
        lawyer: works(),
        tester: works(),
        architect: works({ consumes: ["analyst"], model: "openai/z" }),
      },
      more: { model: "openai/c" },
    });
    expect(describeChanges(define(), after)).toEqual([
      "phase testing was added",
      "phase ship was removed",
      "phase requirements: persona lawyer was added",
      "phase design: persona critic was removed",
      "model changed from simulated to openai/c",
      "phase design: review changed from off to on",
      "phase design: persona architect: model changed from openai/a to openai/z",
    ]);
    expect(places(after)).toEqual([
      "requirements/analyst changed",
      "design/architect changed",
      "design/critic removed",
      "ship/agent removed",
    ]);
  });

  test("keep results of personas that name their inputs, and discard those of personas that read everything", () => {
    const after = define({
      phases: [
        { name: "law", personas: ["lawyer"] },
        ...base.phases.map((phase, index) => (index === 0 ? { ...phase, dependsOn: ["law"] } : phase)),
      ],
      personas: { lawyer: works() },
    });
    expect(places(after)).toEqual(["requirements/analyst reads", "design/critic reads", "ship/agent reads"]);
    expect(describeChanges(define(), after)).toEqual([
      "phase law was added",
      "phase requirements: dependsOn changed from [] to [law]",
    ]);
  });

  test("an order that was there already is no other input", () => {
    const after = withPhase("ship", { dependsOn: ["requirements", "design"] });
    expect(describeChanges(define(), after)).toEqual([
      "phase ship: dependsOn changed from [design] to [requirements, design]",
    ]);
    expect(places(after)).toEqual([]);
  });

  test("in another order are said to be so: files are merged in it", () => {
    expect(describeChanges(define(), withPhase("design", { personas: ["critic", "architect"] }))).toEqual([
      "phase design: the personas are in another order",
    ]);
  });
});

test("a persona's fingerprint tells personas and phases apart", () => {
  const definition = define();
  const fingerprints = definition.phases.flatMap(({ name, personas }) =>
    personas.map((persona) => personaFingerprint(definition, name, persona.name)),
  );
  expect(new Set(fingerprints).size).toBe(4);
  expect(() => personaFingerprint(definition, "design", "agent")).toThrow(
    'Team "team" has no persona "agent" in phase "design".',
  );
});

test("the hosts of the web count for the personas that may read it", () => {
  const of = (allow: readonly string[], persona: string): string => {
    const personas = { ...base.personas, critic: works({ tools: ["fetch_url"] }) };
    return personaFingerprint(define({ personas, more: { web: { allow } } }), "design", persona);
  };
  expect(of(["a.example"], "critic")).not.toBe(of(["b.example"], "critic"));
  expect(of(["a.example"], "architect")).toBe(of(["b.example"], "architect"));
});

test("no secret of a command is in the description of its change", () => {
  const secret = "sk-abcdefghijklmnop123456";
  const changes = describeChanges(define(), withPersona("agent", { command: ["claude", "--key", secret] }));
  expect(changes.join()).not.toContain(secret);
});

describe("a phase begins with other files", () => {
  const graph = (phases: Readonly<Record<string, readonly string[]>>) =>
    define({
      phases: Object.entries(phases).map(([name, dependsOn]) => ({
        name,
        dependsOn,
        personas: [`p-${name}`],
      })),
      personas: Object.fromEntries(Object.keys(phases).map((name) => [`p-${name}`, works()])),
    });
  const meet = { a: [], b: [], c: ["a", "b"], d: ["c"] };

  test.each<[string, Readonly<Record<string, readonly string[]>>, readonly string[]]>([
    ["when one is put before it", { a: [], b: [], x: ["a", "b"], c: ["x"], d: ["c"] }, ["c"]],
    ["when it rests on another", { a: [], b: [], c: ["a"], d: ["c"] }, ["c"]],
    ["when branches that meet come in another order", { b: [], a: [], c: ["a", "b"], d: ["c"] }, ["c"]],
    ["and not when the same are named in another order", { ...meet, c: ["b", "a"] }, []],
    ["and not when one is named that it rests on anyway", { ...meet, d: ["a", "c"] }, []],
  ])("%s", (_, after, expected) => {
    expect(rewiredPhases(graph(meet), graph(after))).toEqual(expected);
  });
});

test("a gate that was recorded with its keys in another order is the same gate", () => {
  const phase = { name: "a", dependsOn: [], personas: [], review: false };
  const team = (gate: object) => ({ name: "t", phases: [{ ...phase, gate }] }) as unknown as TeamDefinition;
  const recorded = team({ onFail: "review", threshold: 0.75 });
  expect(rejudgedPhases(recorded, team({ threshold: 0.75, onFail: "review" }))).toEqual([]);
  expect(rejudgedPhases(recorded, team({ threshold: 0.8, onFail: "review" }))).toEqual(["a"]);
});
