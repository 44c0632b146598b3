import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import { attemptsOf, calls, ModelHive } from "../support/model-hive.ts";

const model = "anthropic/claude-sonnet-4-5";
const contract = { deliverables: ["report.md"] };
const only = (member: ReturnType<typeof persona>) =>
  defineTeam("stuck", { phases: [phase("only", { personas: [member] })] });
const writer = persona("writer", { instructions: "Write the report.", contract });

test("a model that fails equally on equal files twice ends its round with the evidence", async () => {
  const failures: unknown[] = [];
  const hive = await ModelHive.open(() => calls("submit", { summary: "done" }), {
    onEvent: (event) => void (event.kind === "attempt.failed" && failures.push(event)),
  });
  const ended = await hive.run(only(writer), { model });
  expect(ended.result).toMatchObject({ status: "parked", reason: "help" });
  expect(attemptsOf(ended, "writer").map(({ at }) => at)).toEqual(["1.1", "1.2", "2.1", "2.2"]);
  expect(hive.models.log, "no call is paid for the third attempts").toHaveLength(4);
  const ends = [{ stuck: false }, { stuck: true }, { stuck: false }, { stuck: true }];
  expect(failures).toMatchObject(ends);
  expect(ended.view.phases[0]?.personas[0]?.attempts, "as show lists them").toMatchObject(ends);
});

test("a model that leaves other files with each failure keeps its six attempts", async () => {
  const hive = await ModelHive.open(({ answersBefore, number }) =>
    answersBefore === 0
      ? calls("write_file", { path: `try-${number}.md`, content: "no\n" })
      : calls("submit", { summary: "done" }),
  );
  const ended = await hive.run(only(writer), { model });
  expect(attemptsOf(ended, "writer")).toHaveLength(6);
});

test("an agent that changes nothing and fails equally twice ends its round", async () => {
  const hive = await ModelHive.open(() => calls("submit", { summary: "done" }), { sandbox: "none" });
  const agent = persona("agent", {
    instructions: "Write the report.",
    command: ["sh", "-c", "cat >/dev/null; echo '```json'; echo '{\"summary\":\"x\"}'; echo '```'"],
    contract,
  });
  const ended = await hive.run(only(agent));
  expect(attemptsOf(ended, "agent").map(({ at }) => at)).toEqual(["1.1", "1.2", "2.1", "2.2"]);
});

test("a function that fails equally on equal files keeps its six attempts", async () => {
  const hive = await ModelHive.open(() => calls("submit", { summary: "done" }));
  let runs = 0;
  const code = persona("code", {
    contract,
    run: async () => {
      runs += 1;
      return { summary: "nothing" };
    },
  });
  const ended = await hive.run(only(code));
  expect(attemptsOf(ended, "code")).toHaveLength(6);
  expect(runs).toBe(6);
});
