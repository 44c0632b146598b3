import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";

const checkThatPrints = (text: string) => ({
  name: "unit",
  run: ["sh", "-c", `echo ${text}; exit 1`],
  must: false,
});

const team = (text: string) =>
  defineTeam("judged", {
    model: "openai-compatible/llama-3.3-70b",
    phases: [
      phase("code", {
        personas: [
          persona("dev", {
            instructions: "Check, then submit.",
            tools: ["run_check"],
            contract: { checks: [checkThatPrints(text)] },
          }),
        ],
      }),
    ],
  });

test("a fork whose check has another command runs it again, and one with the same command does not", async () => {
  const hive = await ModelHive.open(({ answersBefore }) =>
    answersBefore === 0 ? calls("run_check", { name: "unit" }) : calls("submit", { summary: "done" }),
  );
  const first = await hive.run(team("first"));
  expect(first.result).toMatchObject({ status: "completed" });
  const { requests } = hive.models.server;
  expect(requests.splice(0).at(-1)?.text).toContain("first");
  const { id } = first.result;
  const forked = async (text: string) => {
    const fork = await hive.maestro.fork(id, { at: "code", team: team(text) });
    expect(await hive.maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    return requests.splice(0).at(-1)?.text;
  };
  expect(await forked("first")).toBeUndefined();
  const told = await forked("second");
  expect(told).toContain(String.raw`The end of its output:\nsecond`);
  expect(told).not.toContain("first");
});
