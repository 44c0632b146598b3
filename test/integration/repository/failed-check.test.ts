import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";
import { TestRepository } from "./test-repository.ts";

const team = defineTeam("fixers", {
  model: "openai-compatible/llama",
  phases: [
    phase("fix", {
      personas: [
        persona("dev", {
          instructions: "Fix it.",
          healing: "off",
          contract: { checks: [{ name: "unit", run: ["node", "--test"] }] },
        }),
      ],
    }),
  ],
});

test("a failed check reaches the next prompt as fully as run_check tells it", async () => {
  const repository = new TestRepository().write("src/sum.mjs", "export const sum = (a, b) => a - b;\n").write(
    "test/sum.test.mjs",
    `import test from "node:test";
import assert from "node:assert/strict";
import { sum } from "../src/sum.mjs";
test("adds", () => assert.equal(sum(1, 2), 3));
test("subtracts nothing", () => assert.equal(sum(1, 0), 1));
`,
  );
  repository.commit();
  const fix = { path: "src/sum.mjs", edits: [{ find: "a - b", replace: "a + b" }] };
  const hive = await ModelHive.open(({ attempt, answersBefore }) =>
    answersBefore > 0
      ? calls("submit", { summary: "done" })
      : attempt === 1
        ? calls("run_check", { name: "unit" })
        : calls("edit_file", fix),
  );
  const { result, view } = await hive.run(team, { source: { git: repository.folder } });
  expect(result).toMatchObject({ status: "completed" });
  const [, told = "", again = ""] = hive.models.server.requests.map(({ text }) => text);
  // The answer of run_check, and the beginning of the second attempt.
  for (const text of [told, again]) {
    expect(text).toContain("unit: failed");
    expect(text).toContain("1 of 2 tests fails");
    expect(text).toContain("-1 !== 3");
    expect(text).toContain("(test/sum.test.mjs:4)");
    expect(text).toMatch(/actual: -1,\\n.{0,20}expected: 3/);
    expect(text).toContain("The end of its output:");
  }
  expect(again).toContain("Why earlier attempts failed");
  // Both attempts are on record with their tests and everything that was printed.
  const attempts = view.phases[0]?.personas[0]?.attempts ?? [];
  expect(attempts.map(({ checks }) => checks[0]?.tests)).toEqual([
    { passed: 1, failed: 1, skipped: 0 },
    { passed: 2, failed: 0, skipped: 0 },
  ]);
  for (const { checks } of attempts) {
    const output = await hive.maestro.artifact(view.id, checks[0]?.output ?? "");
    expect(output.toString()).toContain("ℹ tests 2");
  }
});
