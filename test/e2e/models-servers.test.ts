import { expect, test } from "vitest";
import { defineTeam, persona, phase } from "../../src/index.ts";
import type { ModelFault, ModelRequest } from "../support/loopback-models.ts";
import { ModelHive, writesThenSubmits } from "../support/model-hive.ts";

const team = defineTeam("served", {
  model: "openai-compatible/any",
  phases: [
    phase("only", {
      personas: [persona("worker", { instructions: "Write a.txt.", contract: { deliverables: ["a.txt"] } })],
    }),
  ],
});

/** As Mistral's servers do. */
function refuseOtherIds({ body }: Pick<ModelRequest, "body">): ModelFault | undefined {
  const messages = body["messages"] as readonly {
    readonly tool_calls?: readonly { readonly id: string }[];
    readonly tool_call_id?: string;
  }[];
  const ids = messages.flatMap(({ tool_calls = [], tool_call_id = [] }) => [
    ...tool_calls.map(({ id }) => id),
    ...[tool_call_id].flat(),
  ]);
  const wrong = ids.find((id) => !/^[a-zA-Z0-9]{9}$/.test(id));
  if (wrong === undefined) return undefined;
  const message = `Tool call id was ${wrong} but must be a-z, A-Z, 0-9, with a length of 9.`;
  return { fault: "refuse", status: 400, code: "invalid_function_call", message };
}

test("a server that accepts only ids of nine letters and digits accepts the whole conversation", async () => {
  const hive = await ModelHive.open(({ answersBefore, text }) => {
    const refusal = refuseOtherIds({ body: JSON.parse(text) });
    if (refusal !== undefined) return refusal;
    if (answersBefore > 0) return writesThenSubmits(answersBefore);
    const input = { path: "a.txt", content: "a\n" };
    // Two calls of one answer, both with an id that this server does not accept back.
    return {
      calls: [
        { id: "", tool: "write_file", input },
        { id: "", tool: "list_files", input: {} },
      ],
    };
  });
  const { result } = await hive.run(team);
  expect(result.status).toBe("completed");
  expect(hive.models.log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1]);
});

test.each(["other", "tool_call", "eos_token"])(
  "the tool calls of an answer run when its server says that it ended with %s",
  async (finish) => {
    const hive = await ModelHive.open(({ answersBefore }) => ({
      ...writesThenSubmits(answersBefore),
      finish,
    }));
    const { result, view } = await hive.run(team);
    expect(result.status).toBe("completed");
    expect(view.artifacts.map(({ path }) => path)).toEqual(["a.txt"]);
    expect(hive.models.log.map(({ answersBefore }) => answersBefore)).toEqual([0, 1]);
  },
);
