import { describe, expect, test } from "vitest";
import { call, delivering, place, submit } from "./persona-place.ts";

describe("a persona with a model", () => {
  test("writes what its contract asks for and submits, without any script", async () => {
    const { run, files, steps } = await place(undefined, {
      work: { contract: delivering("docs/requirements.md", "src/**/*.ts") },
    });
    const result = await run();
    expect(result.summary).toBe("(simulated) analyst did its part of phase requirements.");
    expect(Object.keys(files.contents).sort()).toEqual(["docs/requirements.md", "src/simulated.ts"]);
    expect(steps.records.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "model simulated",
      "tool write_file",
      "tool write_file",
      "model simulated",
    ]);
  });

  test("returns the summary, outputs and decisions that the model submits", async () => {
    const decisions = [{ decision: "SQLite", reason: "no server", rejected: ["PostgreSQL"] }];
    const { run } = await place([submit({ outputs: { count: 3 }, decisions })]);
    expect(await run()).toEqual({ summary: "(simulated) done", outputs: { count: 3 }, decisions });
  });

  test("calls of one answer run in order, one at a time", async () => {
    const { run, files, steps } = await place([
      {
        calls: [
          { tool: "write_file", input: { path: "a.txt", content: "one" } },
          { tool: "edit_file", input: { path: "a.txt", edits: [{ find: "one", replace: "two" }] } },
          { tool: "read_file", input: { path: "a.txt" } },
          { tool: "submit", input: { summary: "done" } },
        ],
      },
    ]);
    await run();
    expect(files.contents).toEqual({ "a.txt": "two" });
    expect(JSON.parse(steps.records.at(-1)?.body ?? "")).toMatchObject({ kind: "done", output: "two" });
  });

  test("a refusal of a tool is sent to the model and recorded", async () => {
    const { run, steps } = await place([call("read_file", { path: "missing.txt" }), submit()]);
    await run();
    expect(steps.asked.at(-1)).toContain("There is no file missing.txt.");
    expect(JSON.parse(steps.records[1]?.body ?? "")).toEqual({
      kind: "failed",
      message: "There is no file missing.txt.",
    });
  });
});
