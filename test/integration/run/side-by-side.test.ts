import { AsyncLocalStorage } from "node:async_hooks";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { armFault } from "../../../src/store/fault-points.ts";
import { Lives } from "./lives.ts";

const hourMs = 3_600_000;

afterEach(() => armFault(undefined));

/** Resolves each of these when told to. */
function gates(names: readonly string[]) {
  const opened = new Map(names.map((name) => [name, Promise.withResolvers<void>()]));
  return {
    open: (name: string) => opened.get(name)?.resolve(),
    passed: (name: string) => opened.get(name)?.promise,
  };
}

describe("parallel steps", () => {
  test("are replayed in any order", async () => {
    const lives = new Lives();
    const names = ["a", "b", "c", "d"];
    const given: string[][] = [];
    const work = async ({ step }: PersonaContext, order: readonly string[], ends: boolean) => {
      const results = await Promise.all(
        order.map((name) => step(name, lives.effect(name, `result ${name}`))),
      );
      given.push(results);
      if (ends) lives.end();
      await step("last", () => 1);
      return { summary: "done" };
    };
    await lives.live((context) => work(context, names, true));
    await lives.live((context) => work(context, names.toReversed(), true));
    await lives.live((context) => work(context, ["c", "a", "d", "b"], false));
    expect(given.map((results) => results.toSorted())).toEqual(
      Array.from(given, () => names.map((n) => `result ${n}`)),
    );
    expect(lives.ran.toSorted()).toEqual(names);
    expect(lives.rows("attempt.diverged")).toEqual([]);
  });

  test("in a larger number than can be recorded at once keep their own results, and none runs again", async () => {
    const lives = new Lives();
    const given: number[][] = [];
    // All of one name, so that only the order they are asked for in tells them apart.
    const work = async ({ step }: PersonaContext, ends: boolean) => {
      const numbers = Array.from({ length: 700 }, (_, number) => number);
      given.push(await Promise.all(numbers.map((number) => step("same", lives.effect("same", number)))));
      if (ends) lives.end();
      await step("last", () => 1);
      return { summary: "done" };
    };
    await lives.live((context) => work(context, true));
    await lives.live((context) => work(context, false));
    expect(given).toHaveLength(2);
    expect(given[0]).toEqual(Array.from({ length: 700 }, (_, number) => number));
    expect(given[1]).toEqual(given[0]);
    expect(lives.ran).toHaveLength(700);
  });

  test("that wait for the disk keep the files and the async context of their caller", async () => {
    const lives = new Lives();
    const tenant = new AsyncLocalStorage<string>();
    const seen: unknown[] = [];
    const work = async ({ step, workspace }: PersonaContext, ends: boolean) => {
      await step("outer", async () => {
        const others = Array.from({ length: 400 }, (_, number) => step(`other ${number}`, () => number));
        // They have run by then, and nearly all of them are still on their way to the disk.
        await new Promise(setImmediate);
        await tenant.run("tenant", () =>
          step("inner", () => {
            seen.push(tenant.getStore());
            return workspace.write("a.txt", "written");
          }),
        );
        await Promise.all(others);
      });
      seen.push(await workspace.readText("a.txt"));
      if (ends) lives.end();
      await step("last", () => 1);
      return { summary: "done" };
    };
    await lives.live((context) => work(context, true));
    await lives.live((context) => work(context, false));
    expect(seen).toEqual(["tenant", "written", "written"]);
  });

  test("of one name and different inputs are not repeated because another one was not recorded", async () => {
    const lives = new Lives();
    const files = ["a", "b", "c"];
    const gate = gates(files);
    // The second record does not reach the disk: the process may as well have been killed there.
    armFault({ point: "step.function:before-commit", hit: 2, act: "throw" });
    const review = ({ step }: PersonaContext, file: string, wait: boolean) =>
      step(
        "review",
        async () => {
          if (wait) await gate.passed(file);
          return lives.effect(file, `review of ${file}`)();
        },
        { input: file },
      );
    const first = lives.live(async (context) => {
      const reviews = files.map((file) => review(context, file, true));
      // The last one asked for is the only one recorded.
      gate.open("c");
      await reviews[2];
      gate.open("a");
      await Promise.allSettled(reviews.slice(0, 1));
      gate.open("b");
      await Promise.all(reviews);
      return { summary: "done" };
    });
    await expect(first).rejects.toMatchObject({ name: "StorageFailed" });
    armFault(undefined);
    const { status, results } = await lives.live(async (context) => {
      const reviews = await Promise.all(files.map((file) => review(context, file, false)));
      return { summary: reviews.join(", ") };
    });
    expect(status).toBe("completed");
    expect(results["work"]?.["worker"]?.summary).toBe("review of a, review of b, review of c");
    expect(lives.rows("attempt.diverged")).toEqual([]);
    expect(lives.ran.filter((file) => file === "c")).toEqual(["c"]);
  });

  test("keep their order and their records while another process holds the disk", async () => {
    const lives = new Lives();
    const files = Array.from({ length: 300 }, (_, number) => `file ${number}`);
    const review = ({ step }: PersonaContext, file: string, begin = () => {}) =>
      step("review", () => (begin(), lives.effect(file, `review of ${file}`)()), { input: file });
    await lives.live(async (context) => {
      // Recorded in another order than they are asked for again.
      for (const file of ["file 290", "file 10"]) await review(context, file);
      lives.end();
      return { summary: await context.step("last", () => "done") };
    });
    const other = new DatabaseSync(join(lives.stateDir, "maestro.db"), { timeout: 5_000 });
    /** Longer than the wait for a step that no code awaits. */
    const holdTheDisk = () => {
      other.exec("BEGIN IMMEDIATE");
      setTimeout(() => other.exec("COMMIT"), 150);
    };
    await lives.live(async (context) => {
      holdTheDisk();
      const crowd = Array.from({ length: 150 }, (_, number) => context.step(`other ${number}`, () => number));
      // They have run by then, and wait for the disk.
      await new Promise(setImmediate);
      const reviews = files.map((file) =>
        review(context, file, file === "file 12" ? holdTheDisk : undefined),
      );
      await Promise.all([...crowd, ...reviews]);
      return { summary: "done" };
    });
    other.close();
    expect(lives.rows("attempt.diverged")).toEqual([]);
    expect(lives.ran.toSorted()).toEqual(files.toSorted());
  });

  test("in branches of several steps keep the records of the branch that is ahead", async () => {
    const lives = new Lives();
    armFault({ point: "step.function:before-commit", hit: 4, act: "throw" });
    const branch = async ({ step }: PersonaContext, file: string, ready?: Promise<unknown>) => {
      const text = await step("read", lives.effect(`read ${file}`, file), { input: file });
      await ready;
      return step("judge", lives.effect(`judge ${file}`, `${text} is good`), { input: file });
    };
    const first = lives.live(async (context) => {
      const ahead = branch(context, "b");
      // Its judgement is the fourth record, the one that is lost.
      const behind = branch(context, "a", ahead);
      return { summary: (await Promise.all([behind, ahead])).join() };
    });
    await expect(first).rejects.toMatchObject({ name: "StorageFailed" });
    armFault(undefined);
    const { results } = await lives.live(async (context) => {
      const both = await Promise.all([branch(context, "a"), branch(context, "b")]);
      return { summary: both.join() };
    });
    expect(results["work"]?.["worker"]?.summary).toBe("a is good,b is good");
    expect(lives.ran.toSorted()).toEqual(["judge a", "judge a", "judge b", "read a", "read b"]);
    expect(lives.rows("attempt.diverged")).toEqual([]);
  });
});

describe("steps of one name and different inputs", () => {
  test("that come in another order after a crash run once each", async () => {
    const lives = new Lives();
    const slow = Promise.withResolvers<void>();
    const work = async ({ step }: PersonaContext, late: () => Promise<void>) => {
      const branch = async (input: string, before: () => Promise<void>) => {
        await before();
        return step("x", lives.effect(input, input), { input });
      };
      await Promise.all([branch("a", late), branch("b", () => slow.promise)]);
      return { summary: "done" };
    };
    const recorded = () =>
      new Promise<void>((resolve) => {
        lives.onEvent = (event) => event.kind === "step" && event.name === "x" && resolve();
      });
    await lives.live(async (context) => {
      const isRecorded = recorded();
      const lost = work(context, async () => {});
      await context.step("until a is recorded", () => isRecorded);
      lives.end();
      slow.resolve();
      return lost;
    });
    // Now b asks at once, and a only when all others are quiet.
    const result = await lives.live(async (context) => {
      const bIsRecorded = recorded();
      const both = work(context, () => bIsRecorded.then(() => lives.clock.sleep(hourMs)));
      await context.step("until a is recorded", () => 0);
      return both;
    });
    expect(result.status).toBe("completed");
    expect(lives.ran.toSorted()).toEqual(["a", "b"]);
  });
});

describe("work that catches all errors", () => {
  test("cannot turn a failing disk into a result or into a failed attempt", async () => {
    for (const then of ["returns", "throws"]) {
      const lives = new Lives();
      armFault({ point: "step.function:before-commit", hit: 2, act: "throw" });
      const careless = async ({ step }: PersonaContext) => {
        await step("first", lives.effect("first", 1));
        const second = await step("second", lives.effect("second", 2)).catch(() => "made up");
        if (then === "throws" && second === "made up") throw new Error("something else");
        return { summary: String(second) };
      };
      await expect(lives.live(careless)).rejects.toMatchObject({ name: "StorageFailed" });
      armFault(undefined);
      const { status, results } = await lives.live(careless);
      expect([status, results["work"]?.["worker"]?.summary]).toEqual(["completed", "2"]);
      expect(lives.ran).toEqual(["first", "second", "second"]);
      expect((await lives.show()).phases[0]?.personas[0]?.attempts).toHaveLength(1);
    }
  });

  test("cannot turn the end of its process into a result", async () => {
    const lives = new Lives();
    const careless = async ({ step }: PersonaContext, ends: boolean) => {
      await step("first", lives.effect("first", 1));
      if (ends) lives.end();
      return { summary: String(await step("second", lives.effect("second", 2)).catch(() => "made up")) };
    };
    expect((await lives.live((context) => careless(context, true))).status).toBe("running");
    const { results } = await lives.live((context) => careless(context, false));
    expect(results["work"]?.["worker"]?.summary).toBe("2");
    expect(lives.ran).toEqual(["first", "second"]);
  });
});
