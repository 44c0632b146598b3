import { describe, expect, test } from "vitest";
import { toolNames } from "../../../src/personas/tools/tool-table.ts";
import { fileTeam, problemsOf, works } from "./written-team.ts";

const onePhase = [{ name: "design", personas: ["architect"] }];

const withPersona = (persona: unknown) => fileTeam(onePhase, { architect: persona });
const withContract = (contract: unknown) => withPersona(works({ contract }));

describe("a contract can be judged", () => {
  const where = 'persona "architect": contract';
  test.each([
    [
      { deliverables: "docs/a.md" },
      `${where}.deliverables is "docs/a.md"; it must be a list of deliverables, such as ["docs/a.md"].`,
    ],
    [
      { deliverables: [{ name: "a", files: "docs/a.md" }] },
      `${where}.deliverables[0].files is "docs/a.md"; it must be a list of globs, such as ["docs/a.md"].`,
    ],
    [{ deliverables: [{ name: "a" }] }, `${where}.deliverables[0] has no files: name at least one.`],
    [
      { deliverables: [{ name: "a", files: [] }] },
      `${where}.deliverables[0] has no files: name at least one.`,
    ],
    [{ deliverables: [{ files: ["a"] }] }, `${where}.deliverables[0] has no "name".`],
    [{ checks: [{ name: "lint" }] }, `${where}.checks[0] has no "run": program and arguments.`],
    [
      { checks: [{ name: "lint", run: "npm run lint" }] },
      `${where}.checks[0].run is a text; it must be a list of program and arguments (there is no shell), such as ["npm", "run", "lint"].`,
    ],
    [
      { checks: [{ name: "lint", run: ["x"], must: "no" }] },
      `${where}.checks[0].must is "no"; it must be true, false or no-worse.`,
    ],
    [
      { checks: [{ name: "lint", run: ["x"], weight: -1 }] },
      `${where}.checks[0].weight is -1; it must be a number from 0 to 1000000.`,
    ],
    [
      {
        checks: [
          { name: "lint", run: ["x"] },
          { name: "lint", run: ["y"] },
        ],
      },
      `${where}.checks has "lint" twice.`,
    ],
    [{ outputs: "string" }, `${where}.outputs must be a JSON Schema: an object.`],
    [{ outputs: [] }, `${where}.outputs must be a JSON Schema: an object.`],
    [
      { outputs: { type: "array" } },
      `${where}.outputs.type is "array"; outputs are always an object: "object".`,
    ],
    [[], `${where} is an empty list; it must be an object with deliverables, outputs and checks.`],
  ])("%j", (contract, problem) => {
    expect(problemsOf(withContract(contract))).toEqual([problem]);
  });

  test.each(["/etc/passwd", "package.json#", "#scripts", "a#b#c", ""])("mayChange refuses %j", (file) => {
    expect(problemsOf(withPersona(works({ mayChange: [file] })))).toEqual([
      expect.stringContaining(
        "it must be a glob, or a glob with a member of its JSON files such as package.json#scripts.",
      ),
    ]);
  });

  test.each(["/etc/passwd", "../secret", "docs/../../secret", "C:\\secret", "\\\\host\\secret", "", "a\nb"])(
    "a deliverable stays inside the workspace: %j",
    (file) => {
      const problem = `is ${JSON.stringify(file)}; it must be a relative path or glob that stays inside the workspace.`;
      expect(problemsOf(withContract({ deliverables: [file] }))).toEqual([
        `${where}.deliverables[0] ${problem}`,
      ]);
      expect(problemsOf(withContract({ deliverables: [{ name: "a", files: [file] }] }))).toEqual([
        `${where}.deliverables[0].files[0] ${problem}`,
      ]);
      expect(problemsOf(withPersona(works({ policy: { write: [file] } })))).toEqual([
        `persona "architect": policy.write[0] ${problem}`,
      ]);
    },
  );

  test("a schema that is too large, too deep or reaches for the prototype is refused", () => {
    let deep: object = {};
    for (let level = 0; level < 80; level += 1) deep = { deep };
    const circle: Record<string, unknown> = {};
    circle["circle"] = circle;
    const proto = JSON.parse('{"properties":{"__proto__":{}}}') as object;
    for (const [outputs, why] of [
      [{ title: "x".repeat(300_000) }, "It is larger than the limit of 262144 bytes"],
      [deep, "is nested deeper than the limit of 64 levels"],
      [circle, "contains itself"],
      [proto, 'has a key "__proto__"'],
    ] as const) {
      const [problem = "", ...others] = problemsOf(withContract({ outputs }));
      expect(problem.toLowerCase()).toContain(why.toLowerCase());
      expect(problem).toContain('persona "architect": contract.outputs');
      expect(others).toEqual([]);
    }
  });

  test("a policy names checks of the contract and tools that exist", () => {
    const persona = works({
      contract: { checks: [{ name: "lint", run: ["lint"] }] },
      policy: { checks: ["lnt", "lint", "lint"] },
      tools: ["read_fil", "shell", 5],
    });
    expect(problemsOf(withPersona(persona))).toEqual([
      'persona "architect": policy.checks has "lint" twice.',
      'persona "architect": policy.checks names "lnt", and its contract has no such check. Did you mean "lint"?',
      'persona "architect": tools[0] is "read_fil", and there is no such tool. Did you mean "read_file"?',
      `persona "architect": tools[1] is "shell", and there is no such tool. Known: ${toolNames.join(", ")}.`,
      `persona "architect": tools[2] is 5; it must be one of ${toolNames.join(", ")}.`,
    ]);
  });

  test("tools are set beside the policy, not in it", () => {
    expect(problemsOf(withPersona(works({ policy: { tools: [] } })))).toEqual([
      'persona "architect": policy has an unknown key "tools". Write tools beside policy instead.',
    ]);
  });
});
