import { describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

/** Neither of them is mended by trying again: one outlasts both rounds, the other is beyond retrying. */
const causes = {
  "an outage that outlasted both rounds": () =>
    Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" }),
  "a key that is refused": () => Object.assign(new Error("revoked"), { statusCode: 401 }),
};

describe.each(Object.entries(causes))("after %s a person's resume", (_, cause) => {
  test("continues from the failed step: earlier recorded steps do not run again", async () => {
    const lives = new Lives();
    let isMended = false;
    const work = async ({ step }: PersonaContext) => {
      await step("before", lives.effect("before", "ready"));
      const answer = await step("call", () => {
        if (!isMended) throw cause();
        return "answered";
      });
      return { summary: answer };
    };
    expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
    isMended = true;
    expect(await lives.live(work)).toMatchObject({
      status: "completed",
      results: { work: { worker: { summary: "answered" } } },
    });
    expect(lives.ran).toEqual(["before"]);
  });
});

test("after work that was never good enough a person's resume starts a new conversation", async () => {
  const lives = new Lives();
  let isMended = false;
  const work = async ({ step }: PersonaContext) => {
    await step("before", lives.effect("before", "ready"));
    if (!isMended) throw new Error("the result is wrong");
    return { summary: "right" };
  };
  expect(await lives.live(work)).toMatchObject({ status: "parked", reason: "help" });
  const before = lives.ran.length;
  isMended = true;
  expect(await lives.live(work)).toMatchObject({ status: "completed" });
  expect(lives.ran.slice(before)).toEqual(["before"]);
});
