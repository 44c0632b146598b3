import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { calls, ModelHive, protocols } from "../support/model-hive.ts";
import { PromptCache } from "../support/prompt-cache.ts";

const team = defineTeam("twice", {
  phases: [
    phase("only", {
      personas: [
        persona("worker", {
          instructions: "Write a.txt.",
          maxAttempts: 2,
          contract: { deliverables: ["a.txt"] },
        }),
      ],
    }),
  ],
});

const brief = Array.from({ length: 1_000 }, (_, line) => `Requirement ${line}: it works.`).join("\n");

test.each(protocols)("a second attempt at %s reads the brief from the provider's cache", async (model) => {
  const hive = await ModelHive.open(({ attempt, answersBefore }) => {
    const isForgotten = attempt === 1;
    return answersBefore === 0 && !isForgotten
      ? calls("write_file", { path: "a.txt", content: "a\n" })
      : calls("submit", { summary: "done" });
  });
  const { result } = await hive.run(team, { model, brief });
  expect(result.status).toBe("completed");
  const { log, server } = hive.models;
  expect(log.map(({ attempt, answersBefore }) => [attempt, answersBefore])).toEqual([
    [1, 0],
    [2, 0],
    [2, 1],
  ]);
  expect(server.requests[1]?.text, "the second attempt is told of the first").toContain("a.txt is missing");
  const cache = new PromptCache();
  const [first, second] = server.requests.map((request) => cache.take(request));
  expect(first?.written).toBeGreaterThan(brief.length);
  expect(second?.read).toBeGreaterThan(brief.length);
  expect(second?.written).toBeLessThan(1_500);
});
