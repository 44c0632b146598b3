import { describe, expect, test } from "vitest";
import { GovernanceViolation, InputInvalid, StorageFailed } from "../../../src/domain/errors.ts";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import type { RunStep } from "../../../src/journal/durable-step.ts";
import type { SimulatedTurn } from "../../../src/personas/model/simulated/script.ts";
import { classifyError } from "../../../src/run/failure/classify-error.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { call, place, submit } from "./persona-place.ts";

const read = call("read_file", { path: "a.md" });

async function failureOf(run: () => Promise<unknown>): Promise<Error> {
  return run().then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error as Error,
  );
}

describe("a persona must submit", () => {
  test("an answer without a tool call is answered once, and then the attempt fails on quality", async () => {
    const { run, steps } = await place([{ text: "All done." }, { text: "Really." }, submit()]);
    const error = await failureOf(run);
    expect(classifyError(error)).toMatchObject({ category: "CONTRACT", recoverable: true, outage: false });
    expect(error.message).toBe("analyst answered without submitting, twice.");
    expect(steps.asked.at(-1)).toContain("You answered without a tool call.");
    expect(steps.records).toHaveLength(2);
  });

  test("a model that continues working after a reminder can be reminded again", async () => {
    const write = (path: string) => call("write_file", { path, content: "x" });
    const talk: SimulatedTurn = { text: "Next I will write." };
    const { run, files } = await place([talk, write("a"), write("b"), talk, write("c"), submit()]);
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
    expect(Object.keys(files.contents)).toEqual(["a", "b", "c"]);
    const idle = await place([talk, write("a"), talk, read, talk, submit()]);
    expect((await failureOf(idle.run)).message).toBe("analyst answered without submitting, twice.");
  });

  test("after the reminder a submission counts", async () => {
    const { run } = await place([{ text: "All done." }, submit()]);
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
  });

  test("an invalid submission is answered with its problems and can be repeated", async () => {
    const outputs = { type: "object", properties: { count: { type: "integer" } }, required: ["count"] };
    const { run, steps } = await place(
      [submit(), submit({ outputs: { count: "many" } }), submit({ outputs: { count: 3 } })],
      { work: { contract: { deliverables: [], checks: [], outputs } } },
    );
    expect(await run()).toMatchObject({ outputs: { count: 3 } });
    expect(steps.asked[2]).toContain("/outputs/count");
    expect(steps.records).toHaveLength(3);
  });

  test("outputs are judged by the definitions of their own schema", async () => {
    const outputs = {
      type: "object",
      properties: { count: { $ref: "#/$defs/whole" } },
      required: ["count"],
      $defs: { whole: { type: "integer", minimum: 1 } },
    };
    const { run, steps } = await place(
      [submit({ outputs: { count: 0 } }), submit({ outputs: { count: 1 } })],
      {
        work: { contract: { deliverables: [], checks: [], outputs } },
      },
    );
    expect(await run()).toMatchObject({ outputs: { count: 1 } });
    expect(steps.asked[1]).toContain("/outputs/count must");
  });

  test("several submissions beside a failed call are each rejected", async () => {
    const twice = [...(submit().calls ?? []), ...(submit().calls ?? [])];
    const { run, steps } = await place([{ calls: [...(read.calls ?? []), ...twice] }, submit()]);
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
    expect(steps.asked.at(-1)?.split("another call of the same answer failed")).toHaveLength(3);
    expect(steps.records.filter(({ kind }) => kind === "model")).toHaveLength(2);
  });

  test("a submission beside a call that failed is not accepted", async () => {
    const { run, steps, files } = await place([
      { calls: [...(read.calls ?? []), ...(submit().calls ?? [])] },
      call("write_file", { path: "a.md", content: "a" }),
      submit({ summary: "now really" }),
    ]);
    expect(await run()).toMatchObject({ summary: "(simulated) now really" });
    expect(steps.asked.some((asked) => asked.includes("another call of the same answer failed"))).toBe(true);
    expect(files.contents).toEqual({ "a.md": "a" });
  });
});

describe("a conversation that goes round in circles ends with a reason", () => {
  test("the same call with the same result, three times", async () => {
    const files = new MemoryFiles({ "a.md": "a" });
    const { run, steps } = await place([read, read, read, read, submit()], { files });
    const error = await failureOf(run);
    expect(error.message).toBe("analyst made the same read_file call 3 times with the same result.");
    expect(classifyError(error)).toMatchObject({ category: "CONTRACT", outage: false, recoverable: true });
    expect(steps.records.filter(({ kind }) => kind === "model")).toHaveLength(3);
  });

  test("but not when the files have changed in between", async () => {
    const files = new MemoryFiles({ "a.md": "a" });
    const write = (content: string): SimulatedTurn => call("write_file", { path: "b.md", content });
    const { run } = await place([read, write("1"), read, write("2"), read, write("3"), read, submit()], {
      files,
    });
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
  });

  test("the same error, three times in a row", async () => {
    const { run } = await place([read, read, read, submit()]);
    expect((await failureOf(run)).message).toContain(
      "met the same error 3 times: read_file: There is no file a.md.",
    );
  });

  test("errors that take turns, and errors with good calls in between", async () => {
    const other = call("read_file", { path: "b.md" });
    const turns = [read, other, read, other, read, submit()];
    expect((await failureOf((await place(turns)).run)).message).toContain("met the same error 3 times");
    const files = new MemoryFiles({ "c.md": "c" });
    const good = (glob: string) => call("list_files", { glob });
    const mixed = [read, good("1"), read, good("2"), read, submit()];
    expect((await failureOf((await place(mixed, { files })).run)).message).toContain("There is no file a.md");
    const wrong = [
      call("erase_disk", {}),
      read,
      call("erase_disk", {}),
      other,
      call("erase_disk", {}),
      submit(),
    ];
    expect((await failureOf((await place(wrong)).run)).message).toContain("the same wrong call 3 times");
  });

  test("too long a time, however busy", async () => {
    const clock = new ManualClock();
    const turns = Array.from({ length: 20 }, (_, index) => call("search_files", { pattern: `${index}` }));
    const files = new MemoryFiles();
    files.search = async () => {
      await clock.advance(150_000);
      return [];
    };
    const { run, steps } = await place(turns, { limits: { maxTimeMs: 600_000 }, clock, files });
    expect((await failureOf(run)).message).toBe("analyst did not submit within 10 minutes.");
    expect(steps.records.filter(({ kind }) => kind === "tool")).toHaveLength(4);
  });

  test("but not a long wait for a service, or for money that others hold", async () => {
    const clock = new ManualClock();
    const steps = new RecordingSteps();
    const runStep: RunStep = async (step) => {
      await clock.advance(1_200_000);
      return steps.runStep(step);
    };
    const turns = [call("list_files", {}), submit()];
    const { run } = await place(turns, { limits: { maxTimeMs: 600_000 }, clock, runStep });
    expect(await run()).toMatchObject({ summary: "(simulated) done" });
  });

  test("the same wrong call, three times in a row", async () => {
    const wrong = call("erase_disk", { path: "/" });
    const { run, steps } = await place([wrong, wrong, wrong, submit()]);
    expect((await failureOf(run)).message).toContain("made the same wrong call 3 times: erase_disk");
    expect(steps.records.every(({ kind }) => kind === "model")).toBe(true);
  });

  test("the same wrong call, however much is said and done in between", async () => {
    const turns = Array.from({ length: 10 }, (_, index) => [
      call("erase_disk", { path: "/" }),
      call("list_files", { glob: `${index}.md` }),
      { text: "Let me think." },
    ]).flat();
    const { run, steps } = await place(turns);
    expect((await failureOf(run)).message).toContain("made the same wrong call 3 times: erase_disk");
    expect(steps.records.filter(({ kind }) => kind === "model")).toHaveLength(7);
  });

  test("too many answers, and too many tokens", async () => {
    const turns = Array.from({ length: 20 }, (_, index) => call("list_files", { glob: `${index}.md` }));
    const many = await place(turns, { limits: { maxSteps: 5 } });
    expect((await failureOf(many.run)).message).toBe("analyst did not submit within 5 answers.");
    expect(many.steps.records.filter(({ kind }) => kind === "model")).toHaveLength(5);
    const costly = await place(turns, { limits: { maxTokens: 2500 } });
    expect((await failureOf(costly.run)).message).toBe("analyst did not submit within 2500 tokens.");
  });
});

describe("governance", () => {
  const forbidden = { allow: ({ name: tool }: { readonly name: string }) => decide(tool) };
  const decide = (tool: string) =>
    tool === "write_file" ? { allowed: false as const, reason: "read only" } : { allowed: true as const };
  const write = (path: string): SimulatedTurn => call("write_file", { path, content: "x" });

  test("a refused call is reported to the model, recorded, and has no effect", async () => {
    const { run, steps, files } = await place([write("a"), write("b"), submit()], { policy: forbidden });
    await run();
    expect(files.contents).toEqual({});
    expect(steps.asked.at(-1)).toContain("Not allowed: read only");
    const refused = steps.records.filter(({ body }) => body.includes('"refused"'));
    expect(refused.map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      "tool write_file",
      "tool write_file",
    ]);
  });

  test("the third refused call ends the attempt, and the other calls of that answer are not run", async () => {
    const last = { calls: [...(write("c").calls ?? []), { tool: "list_files", input: {} }] };
    const { run, steps } = await place([write("a"), write("b"), last, submit()], { policy: forbidden });
    const error = await failureOf(run);
    expect(error).toBeInstanceOf(GovernanceViolation);
    expect(classifyError(error)).toMatchObject({ category: "GOVERNANCE", recoverable: false });
    expect(steps.records.filter(({ name }) => name === "list_files")).toEqual([]);
  });
});

describe("failures that are not the model's fault are not sent to the model", () => {
  test("a full disk ends the attempt with its own error", async () => {
    class FullDisk extends MemoryFiles {
      override async write(): Promise<void> {
        throw new StorageFailed("no space left");
      }
    }
    const { run, steps } = await place([call("write_file", { path: "a", content: "a" }), submit()], {
      files: new FullDisk(),
    });
    expect(await failureOf(run)).toBeInstanceOf(StorageFailed);
    expect(steps.records).toHaveLength(1);
  });

  test("an edit that fails halfway leaves nothing behind", async () => {
    class Careless extends MemoryFiles {
      override async edit(path: string): Promise<never> {
        this.put(path, "half");
        throw new InputInvalid("the second passage is not there");
      }
    }
    const files = new Careless({ "a.md": "whole" });
    const edits = [{ find: "w", replace: "x" }];
    const { run } = await place([call("edit_file", { path: "a.md", edits }), submit()], { files });
    await run();
    expect(files.contents).toEqual({ "a.md": "whole" });
  });

  test("an abort ends a tool that does not look at its signal, within a second", async () => {
    const controller = new AbortController();
    const started = Promise.withResolvers<void>();
    const { run } = await place([call("run_check", { name: "slow" }), submit()], {
      signal: controller.signal,
      runCheck: () => {
        started.resolve();
        return new Promise(() => {});
      },
      work: {
        contract: {
          deliverables: [],
          checks: [{ name: "slow", run: ["sleep", "9"], must: true, weight: 1 }],
        },
      },
    });
    const ended = failureOf(run);
    await started.promise;
    const reason = new Error("stop now");
    controller.abort(reason);
    expect(await ended).toBe(reason);
  });
});
