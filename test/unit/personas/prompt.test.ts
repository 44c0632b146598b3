import { readFile } from "node:fs/promises";
import { describe, expect, test } from "vitest";
import { emptyContract } from "../../../src/domain/contract.ts";
import { createFailure } from "../../../src/domain/failure.ts";
import {
  attemptLine,
  markerLine,
  type PersonaWork,
  personaPrompt,
  readDeliverables,
  whoAsks,
} from "../../../src/personas/model/prompt.ts";
import { someWork } from "./persona-place.ts";

const everything: PersonaWork = {
  persona: "architect",
  phase: "design",
  attempt: 2,
  instructions: "Propose one design; record each decision.\n",
  brief: "A parking app for one city.\n\nIt must work offline.\n",
  contract: {
    deliverables: [
      { name: "design", files: ["docs/design.md", "docs/adr/*.md"], must: true, weight: 1 },
      { name: "pictures", files: ["docs/**/*.svg"], must: false, weight: 1 },
    ],
    outputs: { type: "object", properties: { components: { type: "integer" } }, required: ["components"] },
    checks: [
      { name: "has-title", run: ["grep", "-q", "^# ", "docs/design.md"], must: true, weight: 1 },
      { name: "spelling", run: ["spell", "docs"], must: false, weight: 1 },
    ],
  },
  earlier: [
    {
      phase: "requirements",
      persona: "analyst",
      summary: "Twelve requirements, all testable.",
      outputs: { count: 12, open: ["payment"] },
      files: ["docs/requirements.md"],
    },
    { phase: "requirements", persona: "skeptic", summary: "Nothing to add.", outputs: {}, files: [] },
  ],
  failures: [
    createFailure({
      category: "TEST_FAILURE",
      message: "has-title failed",
      source: "check",
      file: "docs/design.md",
      line: 1,
      details: "grep: no match\nexit 1",
    }),
    createFailure({
      category: "CONTRACT",
      message: "architect answered without submitting, twice.",
      source: "error",
    }),
  ],
  effects: [{ name: "create_issue", call: { tool: "create_issue", arguments: { title: "Leak" } } }],
  putBack: [
    { path: "test/a.test.ts", why: "tester delivers it in phase tests" },
    { path: "package.json#scripts", why: 'it matches "**/package.json#scripts", which the team protects' },
  ],
  notes: ["Too many components.\nThree are enough.", "Name the risks."],
};

const textOf = (work: PersonaWork): string => {
  const { instructions, task, attempt } = personaPrompt(work);
  return `${[instructions, task, attempt].join("\n\n=====\n\n")}\n`;
};

const golden = (name: string): Promise<string> =>
  readFile(new URL(`../../fixtures/models/${name}`, import.meta.url), "utf8");

describe("the prompt of a persona contains", () => {
  test("everything it needs, whole", async () => {
    expect(textOf(everything)).toBe(await golden("prompt-everything.txt"));
  });

  test("nothing that there is not", async () => {
    expect(textOf(someWork())).toBe(await golden("prompt-least.txt"));
  });

  test("results of a megabyte without a cut", () => {
    const summary = "x".repeat(1024 * 1024);
    const earlier = [{ phase: "p", persona: "q", summary, outputs: { all: summary }, files: [] }];
    const { task } = personaPrompt(someWork({ earlier }));
    expect(task.split(summary)).toHaveLength(3);
  });

  test("the same when asked twice", () => {
    expect(personaPrompt(everything)).toEqual(personaPrompt(structuredClone(everything)));
  });

  test("the same beginning in every attempt: only its end says which one it is and what failed before", () => {
    const first = { ...everything, attempt: 1, failures: [], putBack: [], effects: [], notes: [] };
    const { attempt: _, ...beginning } = personaPrompt(everything);
    expect(personaPrompt(first)).toEqual({ ...beginning, attempt: "## This attempt\n\nThis is attempt 1." });
  });
});

test("the asking persona is read from the first line of the instructions only, and its attempt from behind the task", () => {
  const asking = { persona: "back-end_dev", phase: "build", attempt: 3 };
  const told = markerLine({ persona: "other", phase: "p" });
  const work = someWork({ ...asking, instructions: told, brief: attemptLine(7) });
  const { instructions, task, attempt } = personaPrompt(work);
  const parts = [told, task, attempt].map((text) => ({ type: "text" as const, text }));
  const user = { role: "user" as const, content: parts };
  expect(whoAsks([user, { role: "system", content: instructions }])).toEqual(asking);
  expect(whoAsks([user])).toBeUndefined();
});

test("deliverables are read as they were written, whatever their globs contain", () => {
  const files = ['a "b", (required)', "c\\d", "e,f", "*.md"];
  const contract = { ...emptyContract, deliverables: [{ name: "odd", files, must: true, weight: 1 }] };
  expect(readDeliverables(personaPrompt(someWork({ contract })).task)).toEqual(files);
});

test("says which files a deliverable leaves out", () => {
  const files = ["src/**", "!src/db/**", "!src/old.ts"];
  const contract = { ...emptyContract, deliverables: [{ name: "code", files, must: true, weight: 1 }] };
  const { task } = personaPrompt(someWork({ contract }));
  expect(task).toContain('- code: "src/**" except "src/db/**", "src/old.ts" (required)');
  expect(readDeliverables(task)).toEqual(["src/**"]);
});
