import { readdirSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { type PersonaContext, RecoverableError } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const once = { attempts: { max: 1 }, rounds: { max: 1 } };
const done = { summary: "done" };

/** The failure of the last failed attempt. */
async function failureOf(lives: Lives): Promise<{ name?: string; message?: string }> {
  const { phases } = await lives.show();
  return phases[0]?.personas[0]?.attempts.at(-1)?.failure?.error ?? {};
}

describe("a step", () => {
  test("runs once, at whatever point between steps its process dies", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, endsAfter: number) => {
      for (const number of [1, 2, 3, 4]) {
        await step(`step ${number}`, lives.effect(`step ${number}`, number));
        if (number === endsAfter) lives.end();
      }
      return done;
    };
    for (const endsAfter of [1, 2, 2, 3]) {
      expect((await lives.live((context) => work(context, endsAfter))).status).toBe("running");
    }
    expect((await lives.live((context) => work(context, 0))).status).toBe("completed");
    expect(lives.ran).toEqual(["step 1", "step 2", "step 3", "step 4"]);
  });

  test.each([
    ["undefined", undefined, undefined],
    ["null", null, null],
    ["a date, as its text", new Date(0), "1970-01-01T00:00:00.000Z"],
    ["members that are undefined, left out", { a: 1, b: undefined }, { a: 1 }],
    ["NaN, as null", Number.NaN, null],
    ["an empty text", "", ""],
  ])("gives %s in the first run and in every replay", async (_, returned, expected) => {
    const lives = new Lives();
    const given: unknown[] = [];
    const work = async ({ step }: PersonaContext, ends: boolean) => {
      given.push(await step<unknown>("only", () => returned));
      if (ends) lives.end();
      await step("last", () => 1);
      return done;
    };
    await lives.live((context) => work(context, true));
    await lives.live((context) => work(context, false));
    expect(given).toEqual([expected, expected]);
  });

  test("that failed fails again in the same attempt without running, and runs again in the next", async () => {
    const lives = new Lives();
    const caught: unknown[] = [];
    const failing = () => {
      lives.ran.push("failing");
      throw new RecoverableError("no luck", { details: { code: 7 }, cause: new TypeError("inner") });
    };
    const work = async ({ step, failures }: PersonaContext, ends: boolean) => {
      const error: unknown = await step("failing", failing).catch((reason: unknown) => reason);
      caught.push(error);
      if (ends) lives.end();
      await step("after", () => 1);
      if (failures.length === 0) throw error;
      return done;
    };
    await lives.live((context) => work(context, true));
    expect((await lives.live((context) => work(context, false))).status).toBe("completed");
    expect(lives.ran).toEqual(["failing", "failing"]);
    expect(caught).toHaveLength(3);
    for (const error of caught) {
      expect(error).toBeInstanceOf(RecoverableError);
      expect(error).toMatchObject({
        message: "no luck",
        details: { code: 7 },
        cause: { name: "TypeError", message: "inner" },
      });
    }
  });

  test("of the same name is a new step each time", async () => {
    const lives = new Lives();
    const given: number[][] = [];
    const work = async ({ step }: PersonaContext, ends: boolean) => {
      const numbers: number[] = [];
      for (const number of [10, 20, 30])
        numbers.push(await step("same", lives.effect(`same ${number}`, number)));
      given.push(numbers);
      if (ends) lives.end();
      await step("last", () => 1);
      return done;
    };
    await lives.live((context) => work(context, true));
    await lives.live((context) => work(context, false));
    expect(given).toEqual([
      [10, 20, 30],
      [10, 20, 30],
    ]);
    expect(lives.ran).toEqual(["same 10", "same 20", "same 30"]);
  });

  test("with a result over 256 KiB is stored as an artifact and read back whole", async () => {
    const lives = new Lives();
    const large = { text: "é\n".repeat(200_000) };
    const given: unknown[] = [];
    const work = async ({ step }: PersonaContext, ends: boolean) => {
      given.push(await step("large", lives.effect("large", large)));
      if (ends) lives.end();
      await step("last", () => 1);
      return done;
    };
    await lives.live((context) => work(context, true));
    expect(readdirSync(join(lives.stateDir, "artifacts"))).toHaveLength(1);
    await lives.live((context) => work(context, false));
    expect(lives.ran).toEqual(["large"]);
    expect(given).toEqual([large, large]);
  });

  test("restores its files in a replay, for any form of result", async () => {
    const lives = new Lives();
    const found: string[] = [];
    const work = async ({ step, workspace }: PersonaContext, ends: boolean) => {
      await step("write", async () => {
        await workspace.write("a.txt", "a");
        return { changes: ["a.txt"] };
      });
      if (ends) lives.end();
      await step("last", () => 1);
      found.push(...workspace.list());
      return done;
    };
    await lives.live((context) => work(context, true));
    expect((await lives.live((context) => work(context, false))).status).toBe("completed");
    expect(found).toEqual(["a.txt"]);
  });

  test.each([
    ["too deep", () => deep(500), "nested deeper"],
    ["cyclic", () => cyclic(), "contains itself"],
    ["a BigInt", () => ({ a: [1n] }), "is a BigInt"],
    ["a function", () => () => 1, "is a function"],
    ["a Map", () => ({ names: new Map() }), ".names is a Map"],
  ])("with the result %s fails with an error that names it", async (_, make, why) => {
    const lives = new Lives();
    const result = await lives.live(async ({ step }) => {
      await step<unknown>("odd one", () => make());
      return done;
    }, once);
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    const failure = await failureOf(lives);
    expect(failure).toMatchObject({ name: "InputInvalid" });
    expect(failure.message).toContain('the result of step "odd one"');
    expect(failure.message).toContain(why);
  });

  test("with a result that cannot be recorded is not paid for again: the same code would repeat it", async () => {
    const lives = new Lives();
    const result = await lives.live(async ({ step }) => {
      await step("odd one", lives.effect("odd one", new Set([1])));
      return done;
    });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(lives.ran).toEqual(["odd one"]);
  });

  test.each([
    ["", 1],
    ["x".repeat(201), 1],
  ])("needs a name of a sensible length (%#)", async (name) => {
    const lives = new Lives();
    await lives.live(async ({ step }) => {
      await step(name, lives.effect("nameless", 1));
      return done;
    }, once);
    expect(lives.ran).toEqual([]);
    expect((await failureOf(lives)).message).toContain("A step needs a name");
  });
});

function deep(depth: number): unknown {
  let value: unknown = 0;
  for (let level = 0; level < depth; level += 1) value = [value];
  return value;
}

function cyclic(): unknown {
  const value: Record<string, unknown> = {};
  value["self"] = value;
  return value;
}
