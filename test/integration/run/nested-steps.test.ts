import { describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

describe("steps within steps", () => {
  test.each([1, 2])(
    "keep their own results beside others of the same name, in the last of %i attempts or before",
    async (attempts) => {
      const lives = new Lives();
      const given: (readonly string[])[] = [];
      const work =
        (ends: boolean) =>
        async ({ step, failures }: PersonaContext) => {
          const outer = step("outer", async () => {
            const inner = await step("ask", lives.effect("outer", "answer to outer"));
            // By now the other one is recorded as well.
            await step("rest", () => 1);
            if (failures.length < attempts - 1)
              throw Object.assign(new Error("connect ECONNREFUSED 127.0.0.1:1"), { code: "ECONNREFUSED" });
            if (ends) lives.end();
            return inner;
          });
          const side = step("ask", lives.effect("side", "answer to side"));
          given.push(await Promise.all([outer, side]));
          await step("last", () => 1);
          return { summary: "done" };
        };
      await lives.live(work(true), {}, { maxAttempts: attempts });
      await lives.live(work(false), {}, { maxAttempts: attempts });
      expect(given).toEqual(given.map(() => ["answer to outer", "answer to side"]));
      expect(given.length).toBeGreaterThan(0);
      expect(lives.ran.filter((name) => name === "side")).toHaveLength(1);
    },
  );

  test.each(["alone", "behind a service"])(
    "begin after the calling code has continued: %s",
    async (where) => {
      const lives = new Lives();
      const order: string[] = [];
      const options = where === "alone" ? {} : { dependency: "api.example.org" };
      await lives.live(async ({ step }) => {
        const second = step("second", async () => `${order.push("effect")} ${await first}`, options);
        order.push("asked");
        const first = step("first", () => "first");
        return { summary: await second };
      });
      expect(order).toEqual(["asked", "effect"]);
    },
  );

  test("may be nested deeply", async () => {
    const lives = new Lives();
    const depth = 1_500;
    const { status } = await lives.live(async ({ step }) => {
      const down = (left: number): Promise<number> =>
        step(`level ${left}`, async () => {
          lives.ran.push(String(left));
          return left === 0 ? 0 : 1 + (await down(left - 1));
        });
      return { summary: String(await down(depth)) };
    });
    expect(status).toBe("completed");
    expect(lives.ran).toHaveLength(depth + 1);
  });
});
