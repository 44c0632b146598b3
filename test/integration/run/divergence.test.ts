import { describe, expect, test } from "vitest";
import type { PersonaContext } from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const done = { summary: "done" };

describe("a step with a changed input", () => {
  test("is recorded as diverged: earlier steps are kept, and it and all later ones run again", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, version: number, endsBefore?: string) => {
      const run = async (name: string, input?: number) => {
        if (name === endsBefore) lives.end();
        const options = input === undefined ? {} : { input };
        return step(name, lives.effect(`${name} v${version}`, `${name} v${version}`), options);
      };
      const results = [await run("plan"), await run("draft", version), await run("check"), await run("last")];
      return { summary: results.join(", ") };
    };
    await lives.live((context) => work(context, 1, "last"));
    expect(lives.ran).toEqual(["plan v1", "draft v1", "check v1"]);
    await lives.live((context) => work(context, 2, "last"));
    expect(lives.ran.slice(3)).toEqual(["draft v2", "check v2"]);
    expect(lives.rows("attempt.diverged")).toMatchObject([
      { step: "draft", phase: "work", persona: "worker" },
    ]);

    // Another restart knows what was kept and what was not.
    const { results } = await lives.live((context) => work(context, 2));
    expect(lives.ran.slice(5)).toEqual(["last v2"]);
    expect(results["work"]?.["worker"]?.summary).toBe("plan v1, draft v2, check v2, last v2");
    expect(lives.rows("attempt.diverged")).toHaveLength(1);
  });

  test("finds its record when the old input returns, so that nothing is paid twice", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, version: number, ends: boolean) => {
      await step("plan", lives.effect("plan", 1));
      await step("draft", lives.effect(`draft v${version}`, version), { input: version });
      if (ends) lives.end();
      await step("last", lives.effect("last", 1));
      return done;
    };
    for (const version of [1, 2, 3, 1]) await lives.live((context) => work(context, version, true));
    expect((await lives.live((context) => work(context, 1, false))).status).toBe("completed");
    expect(lives.ran).toEqual(["plan", "draft v1", "draft v2", "draft v3", "last"]);
  });

  test("keeps the records that the same process made before it", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, version: number, ends: boolean) => {
      await step("plan", lives.effect("plan", 1));
      if (version === 2) await step("new in v2", lives.effect("new in v2", 1));
      await step("draft", lives.effect(`draft v${version}`, version), { input: version });
      if (ends) lives.end();
      await step("last", lives.effect("last", 1));
      return done;
    };
    await lives.live((context) => work(context, 1, true));
    await lives.live((context) => work(context, 2, true));
    await lives.live((context) => work(context, 2, false));
    expect(lives.ran).toEqual(["plan", "draft v1", "new in v2", "draft v2", "last"]);
  });

  test("is distinguished from a new step and from a removed one", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, names: readonly string[], ends: boolean) => {
      for (const name of names) await step(name, lives.effect(name, name), { input: name });
      if (ends) lives.end();
      await step("last", lives.effect("last", 1));
      return done;
    };
    await lives.live((context) => work(context, ["a", "b", "c"], true));
    await lives.live((context) => work(context, ["a", "new", "c"], true));
    await lives.live((context) => work(context, ["c", "a", "new"], false));
    expect(lives.ran).toEqual(["a", "b", "c", "new", "last"]);
    expect(lives.rows("attempt.diverged")).toEqual([]);
  });

  test("has the same input when only the order of members differs", async () => {
    const lives = new Lives();
    const work = async ({ step }: PersonaContext, input: Record<string, number>, ends: boolean) => {
      await step("draft", lives.effect("draft", 1), { input });
      if (ends) lives.end();
      await step("last", lives.effect("last", 1));
      return done;
    };
    await lives.live((context) => work(context, { a: 1, b: 2 }, true));
    await lives.live((context) => work(context, { b: 2, a: 1 }, false));
    expect(lives.ran).toEqual(["draft", "last"]);
  });
});
