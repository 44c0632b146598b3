import { describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

describe("steps that the work does not await", () => {
  test("are all recorded before their attempt ends, also in a replay", async () => {
    const lives = new Lives();
    const names = Array.from({ length: 20 }, (_, index) => `step ${index}`);
    const chain = async ({ step }: PersonaContext, endsAfter: string | undefined) => {
      for (const name of [...names, "last"]) {
        await step(name, lives.effect(name, `result of ${name}`));
        if (name === endsAfter) lives.end();
      }
    };
    const work = (endsAfter?: string) => async (context: PersonaContext) => {
      chain(context, endsAfter).catch(() => undefined);
      return { summary: "done" };
    };
    await lives.live(work("step 9"));
    await lives.live(work("step 19"));
    expect((await lives.live(work()))?.status).toBe("completed");
    expect(lives.ran).toEqual([...names, "last"]);
  });

  test("do not end the process when they are refused", async () => {
    const lives = new Lives();
    const unheard: unknown[] = [];
    const hear = (reason: unknown) => unheard.push(reason);
    process.on("unhandledRejection", hear);
    await lives.live(async ({ step }) => {
      await step("first", lives.effect("first", 1));
      lives.end();
      void step("refused", lives.effect("refused", 2));
      await new Promise(setImmediate);
      return { summary: "done" };
    });
    await new Promise(setImmediate);
    process.off("unhandledRejection", hear);
    expect(unheard).toEqual([]);
    expect(lives.ran).toEqual(["first"]);
  });
});
