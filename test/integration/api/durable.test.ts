import { expect, test } from "vitest";
import { durable, type PersonaContext, SessionConflict, SessionFailed } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";

const quick = { max: 1, baseDelayMs: 1, maxDelayMs: 1 };

function desk() {
  const { stateDir } = new TeamPlace();
  const ran: string[] = [];
  const run = <T>(
    key: string,
    work: (ctx: PersonaContext) => T | Promise<T>,
    more: object = {},
  ): Promise<T> => durable(key, work, { ...more, open: { stateDir, attempts: quick, rounds: quick } });
  return { ran, run };
}

test("a function runs once for its key, and later calls give its recorded value", async () => {
  const { ran, run } = desk();
  const work = async ({ step }: PersonaContext) => {
    ran.push("work");
    return { rows: await step("fetch", () => [1, 2]), none: null };
  };
  expect(await run("rows", work)).toEqual({ rows: [1, 2], none: null });
  expect(await run("rows", work)).toEqual({ rows: [1, 2], none: null });
  expect(await run("other", work)).toEqual({ rows: [1, 2], none: null });
  expect(ran).toHaveLength(2);
});

test("a function that returns nothing gives nothing", async () => {
  const { run } = desk();
  expect(await run("quiet", async () => {})).toBeUndefined();
  expect(await run("quiet", async () => {})).toBeUndefined();
});

test("a failure says what happened and what to do, and the next call with the key tries again", async () => {
  const { run } = desk();
  let isBroken = true;
  const work = () => {
    if (isBroken) throw new Error("the disk of the printer is full");
    return "printed";
  };
  const error = (await run("print", work).catch((thrown: unknown) => thrown)) as SessionFailed;
  expect(SessionFailed.is(error)).toBe(true);
  expect(error.message).toContain("print is parked (help): ");
  expect(error.message).toContain("the disk of the printer is full");
  expect(error.advice).toContain("maestro show print");
  isBroken = false;
  expect(await run("print", work)).toBe("printed");
});

test("a value that is not JSON is refused, and another brief for a key is a conflict", async () => {
  const { run } = desk();
  await expect(run("map", () => new Map([[1, 2]]) as never)).rejects.toThrow(SessionFailed);
  await run("key", () => 1);
  await expect(run("key", () => 1, { brief: "other" })).rejects.toThrow(SessionConflict);
});
