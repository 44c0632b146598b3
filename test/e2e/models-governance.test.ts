import { describe, expect, test } from "vitest";
import type { SessionId } from "../../src/domain/ids.ts";
import { defineTeam, persona, phase } from "../../src/index.ts";
import type { ModelTurn } from "../support/loopback-model-turn.ts";
import { attemptsOf, calls, ModelHive, protocols } from "../support/model-hive.ts";

const team = defineTeam("bounded", {
  phases: [
    phase("only", {
      personas: [
        persona("writer", {
          instructions: "Write docs/a.md.",
          policy: { write: ["docs/**"] },
          contract: { deliverables: ["docs/a.md"] },
        }),
      ],
    }),
  ],
});

const trespass = (number: number): ModelTurn =>
  calls("write_file", { path: `src/elsewhere-${number}.js`, content: "mine\n" });

/** This many forbidden writes, then the allowed one. */
const trespassing =
  (times: number) =>
  ({ answersBefore }: { readonly answersBefore: number }): ModelTurn => {
    if (answersBefore < times) return trespass(answersBefore);
    return answersBefore === times
      ? calls("write_file", { path: "docs/a.md", content: "# A\n" })
      : calls("submit", { summary: "done" });
  };

/** The recorded outcome of each tool call. */
async function toolCalls(hive: ModelHive, id: string): Promise<readonly { readonly kind: string }[]> {
  const bodies: string[] = [];
  for await (const page of hive.maestro.rows(id as SessionId))
    bodies.push(...page.flatMap(({ kind, body }) => (kind === "step.tool" ? [body] : [])));
  return bodies.map((body) => (JSON.parse(body) as { result: { kind: string } }).result);
}

describe.each(protocols)("%s", (model) => {
  test.each([1, 2])("the model gets %i refusals of forbidden calls and continues", async (times) => {
    const hive = await ModelHive.open(trespassing(times));
    const ended = await hive.run(team, { model });
    expect(ended.result.status).toBe("completed");
    expect(attemptsOf(ended, "writer")).toMatchObject([{ at: "1.1", status: "completed" }]);
    expect(ended.view.artifacts.map(({ path }) => path)).toEqual(["docs/a.md"]);
    const { requests } = hive.models.server;
    expect(requests).toHaveLength(times + 2);
    const reason = `src/elsewhere-${times - 1}.js is not one of the files this persona may write: docs/**`;
    expect(requests[times]?.text).toContain(reason);
    const audited = (await toolCalls(hive, ended.result.id)).filter(({ kind }) => kind === "refused");
    expect(audited, "each is on record").toHaveLength(times);
    expect(audited.at(-1)).toEqual({ kind: "refused", reason });
  });

  test("the third forbidden call fails the session, and nothing is retried", async () => {
    const hive = await ModelHive.open(trespassing(9));
    const ended = await hive.run(team, { model });
    expect(ended.result).toMatchObject({
      status: "failed",
      error: { code: "GOVERNANCE_VIOLATION", details: { tool: "write_file", refusals: 3 } },
    });
    expect(attemptsOf(ended, "writer")).toMatchObject([
      { at: "1.1", status: "failed", category: "GOVERNANCE", healing: [] },
    ]);
    expect(hive.models.log).toHaveLength(3);
    expect(ended.view).toMatchObject({ status: "failed", artifacts: [] });
    expect(await hive.maestro.tickets()).toEqual([]);
  });
});

const [model] = protocols;

test("three forbidden calls in one answer fail the session, and the fourth is not executed", async () => {
  const all: ModelTurn = {
    calls: [0, 1, 2, 3].map((number) => ({
      id: `c-${number}`,
      tool: "write_file",
      input: { path: number === 3 ? "docs/a.md" : `src/${number}.js`, content: "mine\n" },
    })),
  };
  const hive = await ModelHive.open(() => all);
  const ended = await hive.run(team, { model });
  expect(ended.result).toMatchObject({ status: "failed", error: { code: "GOVERNANCE_VIOLATION" } });
  expect(hive.models.log).toHaveLength(1);
  expect(ended.view.artifacts).toEqual([]);
});

test("a path that leaves the allowed folder through .. is forbidden too", async () => {
  const detours = ["docs/../src/a.js", "./src/a.js", "docs/../../a.js"];
  const hive = await ModelHive.open(({ answersBefore }) =>
    answersBefore < detours.length
      ? calls("write_file", { path: detours[answersBefore], content: "mine\n" })
      : trespassing(0)({ answersBefore: answersBefore - detours.length }),
  );
  const ended = await hive.run(team, { model });
  expect(ended.result.status).toBe("completed");
  expect(ended.view.artifacts.map(({ path }) => path)).toEqual(["docs/a.md"]);
});

test("a violation by one persona keeps the results of its siblings", async () => {
  const pair = defineTeam("pair", {
    phases: [
      phase("only", {
        personas: ["good", "bad"].map((name) =>
          persona(name, { instructions: "Write.", policy: { write: [`docs/${name}.md`] } }),
        ),
      }),
    ],
  });
  const hive = await ModelHive.open(({ persona: name, answersBefore }) => {
    if (name === "bad") return trespass(answersBefore);
    return answersBefore === 0
      ? calls("write_file", { path: "docs/good.md", content: "good\n" })
      : calls("submit", { summary: "good" });
  });
  const ended = await hive.run(pair, { model });
  expect(ended.result).toMatchObject({ status: "failed", results: { only: { good: { summary: "good" } } } });
  expect(attemptsOf(ended, "bad")).toHaveLength(1);
});
