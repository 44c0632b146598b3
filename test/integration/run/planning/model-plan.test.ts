import { describe, expect, test } from "vitest";
import type { ModelPlan } from "../../../../src/run/planning/classification.ts";
import {
  type AskModel,
  classifyWithModel,
  type ModelQuestion,
} from "../../../../src/run/planning/classify-with-model.ts";
import { planFor } from "../../../../src/run/planning/plan-session.ts";
import { defineTeam, persona, phase } from "../../../../src/team/define.ts";

const brief = "Fix the login page of the shop.";

const classification = {
  type: "feature",
  complexity: "large",
  parallelism: "many",
  expertise: ["backend"],
  risks: [],
  confidence: 0.9,
  reason: "It looks like that.",
};

const told = (instructions: string, files: string[] = []) => ({
  instructions,
  ...(files.length > 0 && { contract: { deliverables: [{ name: "files", files }] } }),
});

const team = defineTeam("own", {
  planning: "model",
  phases: [
    phase("plan", { personas: [persona("thinker", told("Think it over.\nAll of it.", ["docs/**"]))] }),
    phase("make", {
      gate: 0.5,
      personas: [
        persona("maker", told("Make it.", ["src/**"])),
        persona("helper", told("Help.")),
        persona("clerk", { ...told("Copy."), policy: { write: ["copies/**"] } }),
      ],
    }),
  ],
});

async function planned(said: ModelPlan, of = team) {
  const asked: ModelQuestion[] = [];
  const ask: AskModel = async (question) => {
    asked.push(question);
    const text = JSON.stringify({ ...classification, ...said });
    return { text, model: "openai/gpt-5", inputTokens: 1, outputTokens: 1 };
  };
  const classified = await classifyWithModel(brief, ask, of.definition);
  const { team: part, decisions } = planFor(of, classified);
  const people = part.definition.phases.map(({ personas }) => personas.map(({ name }) => name));
  const files = Object.fromEntries(
    part.definition.phases.flatMap(({ personas }) =>
      personas.map(({ name, contract }) => [name, contract.deliverables.flatMap((one) => one.files)]),
    ),
  );
  const [first, blueprint, personas, contracts] = decisions;
  return {
    asked: asked[0],
    people,
    files,
    plan: part.definition.plan,
    first,
    blueprint,
    personas,
    contracts,
  };
}

const verdict = (at: string, name: string, works: boolean) => ({
  phase: at,
  persona: name,
  works,
  reason: `${name} it is.`,
});

describe("a model plans the team", () => {
  test("with the personas, their instructions and their deliverables in the prompt", async () => {
    const { asked } = await planned({});
    expect(asked?.instructions).toContain(
      "- plan: thinker (Think it over.), delivers docs/**\n- make: maker (Make it.)",
    );
    expect(asked?.instructions).not.toContain("All of it.");
    expect(asked?.maxOutputTokens).toBe(4_000);
  });

  test("and its answer decides the blueprint, the personas and their deliverables", async () => {
    const said = {
      blueprint: { name: "research", reason: "Nobody\nknows." },
      personas: [verdict("make", "helper", false), verdict("make", "clerk", false)],
      deliverables: [{ persona: "maker", name: "notes", file: "NOTES.md" }],
    };
    const { people, files, plan, blueprint, personas, contracts } = await planned(said);
    expect(people).toEqual([["thinker"], ["maker"]]);
    expect(files["maker"]).toEqual(["src/**", "NOTES.md"]);
    expect(plan).toMatchObject({ blueprint: "research", adds: { maker: { notes: "NOTES.md" } } });
    expect(blueprint).toMatchObject({ choice: "research", reason: "The model: Nobody knows." });
    expect(blueprint?.rejected).toContainEqual(
      expect.stringMatching(/^backend-service .*: research was chosen by the model$/),
    );
    expect(personas?.rejected).toContain("helper in make: the model: helper it is.");
    expect(contracts?.choice).toContain("the model adds NOTES.md from maker");
  });

  test("and the rules decide the parts that it leaves out", async () => {
    const { people, plan, blueprint } = await planned({ personas: [verdict("make", "helper", false)] });
    expect(people).toEqual([["thinker"], ["maker", "clerk"]]);
    expect(plan).toMatchObject({ blueprint: "backend-service" });
    expect(blueprint?.reason).toMatch(/^The brief is of type feature/);
  });

  test("but leaves no phase empty and no gate without anything to judge", async () => {
    const none = ["maker", "helper", "clerk"].map((name) => verdict("make", name, false));
    expect((await planned({ personas: none })).people[1]).toContain("maker");
    const unjudged = [verdict("make", "maker", false), verdict("make", "clerk", false)];
    expect((await planned({ personas: unjudged })).people[1]).toEqual(["maker", "helper"]);
  });

  test("and requests no file that another persona owns or that the policy forbids", async () => {
    const { files, contracts } = await planned({
      deliverables: [
        { persona: "maker", name: "plan", file: "docs/plan.md" },
        { persona: "helper", name: "notes", file: "NOTES.md" },
        { persona: "maker", name: "notes", file: "NOTES.md" },
        { persona: "clerk", name: "list", file: "list.md" },
      ],
    });
    expect(files).toMatchObject({ maker: ["src/**"], helper: ["NOTES.md"], clerk: [] });
    expect(contracts?.rejected).toEqual([
      "docs/plan.md from maker: thinker delivers it",
      "NOTES.md from maker: helper delivers it",
      "list.md from clerk: its contract takes no more files",
    ]);
  });

  test("and a request for a file of an excluded persona is recorded as rejected", async () => {
    const { contracts } = await planned({
      personas: [verdict("make", "helper", false)],
      deliverables: [{ persona: "helper", name: "notes", file: "NOTES.md" }],
    });
    expect(contracts?.rejected).toEqual(["NOTES.md from helper: it is not part of the plan"]);
  });

  test("only by its classification when the team is too large to list", async () => {
    const many = Array.from({ length: 101 }, (_, place) => persona(`p${place}`, told("Do it.")));
    const large = defineTeam("large", { planning: "model", phases: [phase("make", { personas: many })] });
    const { asked, first } = await planned({}, large);
    expect(asked?.instructions).not.toContain("p100");
    expect(first?.reason).toMatch(/^It looks like that\./);
  });
});

describe("the rules decide when a plan is invalid, and the reason is recorded", () => {
  test.each<[what: string, said: object, why: RegExp]>([
    ["an unknown blueprint", { blueprint: { name: "magic", reason: "x" } }, /\/blueprint\/name/],
    ["a stranger", { personas: [verdict("make", "stranger", true)] }, /\/personas\/0\/persona/],
    [
      "a persona of another phase",
      { personas: [verdict("plan", "maker", true)] },
      /phase plan has no persona maker/,
    ],
    [
      "a novel",
      { personas: [{ ...verdict("make", "maker", true), reason: "x".repeat(301) }] },
      /\/personas\/0\/reason/,
    ],
    ["a command", { checks: [{ name: "c", run: ["rm"] }] }, /\/checks/],
    [
      "a way out",
      { deliverables: [{ persona: "maker", name: "n", file: "../x" }] },
      /not a valid path of a file/,
    ],
    [
      "an absolute path",
      { deliverables: [{ persona: "maker", name: "n", file: "/etc/x" }] },
      /not a valid path of a file/,
    ],
    [
      "what git owns",
      { deliverables: [{ persona: "maker", name: "n", file: ".git/config" }] },
      /not a valid path of a file/,
    ],
    [
      "a pattern",
      { deliverables: [{ persona: "maker", name: "n", file: "**" }] },
      /not a valid path of a file/,
    ],
    [
      "no name",
      { deliverables: [{ persona: "maker", name: "a\nb", file: "x" }] },
      /not a valid name of a deliverable/,
    ],
    [
      "too many files",
      {
        deliverables: Array.from({ length: 11 }, (_, n) => ({
          persona: "maker",
          name: `n${n}`,
          file: `f${n}`,
        })),
      },
      /\/deliverables/,
    ],
  ])("%s", async (_, said, why) => {
    const { people, plan, first, files } = await planned(said);
    expect(first?.reason).toMatch(why);
    expect(first?.reason).toContain("The rules decided instead.");
    expect(plan).not.toHaveProperty("adds");
    expect(files["maker"] ?? ["src/**"]).toEqual(["src/**"]);
    expect(people[1]?.length).toBeGreaterThan(0);
  });
});
