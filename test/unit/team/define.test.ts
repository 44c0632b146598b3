import { describe, expect, test } from "vitest";
import { TeamInvalid } from "../../../src/domain/errors.ts";
import { defineTeam, persona, phase, type Team } from "../../../src/index.ts";
import { defaultProtect } from "../../../src/team/definition/default-protect.ts";
import { definitionOf, fileTeam } from "./written-team.ts";

const work = () => ({ summary: "done" });

function refusal(define: () => unknown): TeamInvalid {
  try {
    define();
  } catch (error) {
    if (TeamInvalid.is(error)) return error;
    throw error;
  }
  throw new Error("it was taken");
}

describe("a team in code", () => {
  test("is recorded as plain data with every default filled in", () => {
    const team = defineTeam("product", {
      phases: [
        phase("build", { personas: [persona("builder", { run: work })] }),
        phase("ship", {
          gate: { threshold: 0.9, onFail: "warn" },
          personas: [
            persona("shipper", {
              instructions: "Ship it.",
              tools: ["read_file"],
              healing: "off",
              contract: {
                deliverables: ["dist/**", { name: "notes", files: ["./NOTES.md"], must: false, weight: 2 }],
                outputs: { type: "object", properties: { version: { type: "string" } } },
                checks: [{ name: "smoke", run: ["npm", "test"], timeoutMs: 1_000 }],
              },
            }),
            persona("agent", { command: ["claude", "-p"], env: ["HOME", "HOME"] }),
          ],
        }),
      ],
    });
    const defaults = {
      consumes: null,
      budget: null,
      maxAttempts: null,
      timeoutMs: null,
      healing: true,
      mayChange: [],
      contract: { deliverables: [], checks: [] },
      policy: { read: null, write: null, checks: null },
    };
    expect(team.definition).toStrictEqual({
      name: "product",
      model: null,
      parallel: 4,
      protect: defaultProtect,
      budget: null,
      phases: [
        {
          name: "build",
          dependsOn: [],
          gate: null,
          review: false,
          budget: null,
          personas: [{ ...defaults, name: "builder", work: { kind: "function" } }],
        },
        {
          name: "ship",
          dependsOn: ["build"],
          gate: { threshold: 0.9, onFail: "warn" },
          review: false,
          budget: null,
          personas: [
            {
              ...defaults,
              name: "shipper",
              work: {
                kind: "model",
                instructions: "Ship it.",
                model: null,
                fallbackModels: [],
                maxSteps: null,
                maxOutputTokens: null,
                temperature: null,
              },
              healing: false,
              contract: {
                deliverables: [
                  { name: "dist/**", files: ["dist/**"], must: true, weight: 1 },
                  { name: "notes", files: ["NOTES.md"], must: false, weight: 2 },
                ],
                outputs: { type: "object", properties: { version: { type: "string" } } },
                checks: [{ name: "smoke", run: ["npm", "test"], must: true, weight: 1, timeoutMs: 1_000 }],
              },
              policy: { read: null, write: null, checks: null },
              tools: ["read_file", "submit"],
            },
            {
              ...defaults,
              name: "agent",
              work: {
                kind: "command",
                argv: ["claude", "-p"],
                instructions: null,
                reserve: null,
                network: true,
                env: ["HOME"],
              },
            },
          ],
        },
      ],
    });
    expect(JSON.parse(JSON.stringify(team.definition))).toStrictEqual(team.definition);
  });

  test("keeps the code of its personas at the places of the definition", () => {
    const team: Team = defineTeam("code", {
      phases: [
        phase("one", { personas: [persona("a", { instructions: "x" }), persona("b", { run: work })] }),
        phase("two", { personas: [persona("b", { run: work })] }),
      ],
    });
    for (const [index, { name, personas }] of team.definition.phases.entries()) {
      expect(team.phases[index]?.name).toBe(name);
      for (const [place, definition] of personas.entries()) {
        const written = team.phases[index]?.personas[place];
        expect(written?.name).toBe(definition.name);
        expect(written?.run).toBe(definition.work.kind === "function" ? work : undefined);
      }
    }
  });

  test("cannot be changed through a shared object", () => {
    const outputs = { type: "object", title: "before" };
    const team = defineTeam("frozen", {
      phases: [phase("one", { personas: [persona("a", { run: work, contract: { outputs } })] })],
    });
    outputs.title = "after";
    expect(team.definition.phases[0]?.personas[0]?.contract.outputs).toEqual({
      type: "object",
      title: "before",
    });
    expect(() => Object.assign(team.definition.phases[0] ?? {}, { name: "x" })).toThrow(TypeError);
    expect(() => (team.definition.phases as unknown[]).push(1)).toThrow(TypeError);
  });

  test("is the same team as in a file", () => {
    const instructions = "Do it.";
    const inCode = defineTeam("team", {
      model: "simulated",
      phases: [
        phase("a", {
          gate: 0.5,
          personas: [persona("x", { instructions, contract: { deliverables: ["a"] } })],
        }),
        phase("b", { personas: [persona("y", { instructions, consumes: ["x"], healing: false })] }),
      ],
    });
    const inFile = definitionOf(
      fileTeam(
        [
          { name: "a", gate: { threshold: 0.5 }, personas: ["x"] },
          { name: "b", dependsOn: ["a"], personas: ["y"] },
        ],
        {
          x: { instructions, contract: { deliverables: [{ name: "a", files: ["a"] }] } },
          y: { instructions, consumes: ["x"], healing: "off" },
        },
        { model: "simulated", parallel: 4 },
      ),
    );
    expect(inCode.definition).toStrictEqual(inFile);
  });

  test("is refused with everything that is wrong at once", () => {
    const error = refusal(() =>
      defineTeam("product", {
        phases: [
          phase("build", {
            personas: [
              persona("builder", { run: work, maxAttempts: 0, timeoutMs: 0 }),
              persona("builder", { run: "main" as never }),
              persona("both", { run: work, command: ["x"] } as never),
              { name: "idle" } as never,
              "helper" as never,
            ],
          }),
        ],
        modle: "simulated",
      } as never),
    );
    expect(error.details["problems"]).toEqual([
      'the team has an unknown key "modle". Did you mean "model"?',
      'persona "builder" of phase "build": maxAttempts is 0; it must be a whole number from 1 to 20.',
      'persona "builder" of phase "build": timeoutMs is 0; it must be a whole number from 1 to 86400000.',
      'persona "builder" of phase "build": run is not a function.',
      'persona "both" of phase "build" has more than one kind of work, run and command: keep one.',
      'persona "idle" of phase "build" has no work: give it instructions for a model, an agent, a command, or a function "run".',
      'phase "build": personas[4] is "helper"; it must be the result of persona("name", { ... }).',
      'phase "build" has persona "builder" twice.',
    ]);
    expect(error.message).toBe(
      `Team "product" has 8 problems:\n${(error.details["problems"] as string[]).map((line) => `- ${line}`).join("\n")}`,
    );
  });

  test("is refused in one sentence when one thing is wrong", () => {
    const error = refusal(() => defineTeam("product", { phases: [] }));
    expect(error.message).toBe('Team "product" is not valid: the team has no phases.');
    expect(error.code).toBe("TEAM_INVALID");
  });

  test("lists the first twenty of very many problems, and all that it keeps in the details", () => {
    const personas = Array.from({ length: 150 }, (_, index) => persona(`p${index}`, {} as never));
    const error = refusal(() => defineTeam("product", { phases: [phase("build", { personas })] }));
    expect(error.message.split("\n")).toHaveLength(22);
    expect(error.message).toMatch(/^Team "product" has 150 problems:\n/);
    expect(error.message).toMatch(/\n- and 130 more$/);
    expect(error.details["problems"]).toHaveLength(100);
  });

  test.each([
    [null],
    ["text"],
    [{ phases: [null] }],
    [{ phases: [{ name: null, personas: [null] }] }],
    [{ phases: "x" }],
    [{ phases: [[]] }],
  ])("is refused without a crash when it is not typed at all: %j", (options) => {
    expect(refusal(() => defineTeam("wild", options as never)).code).toBe("TEAM_INVALID");
  });

  test("is refused a schema of a library, whose data would be empty", () => {
    const outputs = { "~standard": {}, parse: work };
    const define = () =>
      defineTeam("schema", {
        phases: [phase("a", { personas: [persona("b", { run: work, contract: { outputs } as never })] })],
      });
    expect(refusal(define).message).toContain(
      "contract.outputs is a schema of a library; it must be JSON Schema as plain data.",
    );
  });

  test("may use one persona in many phases; what is wrong with it is said once", () => {
    const shared = persona("shared", { run: work, maxAttempts: 50 });
    const error = refusal(() =>
      defineTeam("shared", {
        phases: [phase("a", { personas: [shared] }), phase("b", { personas: [shared] })],
      }),
    );
    expect(error.details["problems"]).toHaveLength(1);
  });
});
