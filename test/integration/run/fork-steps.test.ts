import { describe, expect, it } from "vitest";
import { defineTeam, type Maestro, persona, phase } from "../../../src/index.ts";
import { counted } from "./counted-model.ts";
import { TeamPlace } from "./place.ts";

const savedBy = async (maestro: Maestro, id: string) => (await maestro.show(id)).usage.saved.reuse.tokens;

describe("a fork of a session that stopped in the middle of an attempt", () => {
  /** pb makes five calls; the session is paused after the fourth. */
  async function paused(place: TeamPlace, afterwards: (times: number) => void = () => undefined) {
    const maestro = await place.open();
    const { asked, ask } = counted();
    let pause: (() => Promise<unknown>) | undefined = () => maestro.pause(session.id);
    let times = 0;
    const team = defineTeam("calls", {
      phases: [
        phase("a", { personas: [persona("pa", { run: place.work("pa") })] }),
        phase("b", {
          personas: [
            persona("pb", {
              run: place.work("pb", async (context) => {
                times += 1;
                for (let call = 1; call <= 5; call += 1) {
                  await ask(context, `Call ${call}`);
                  const pausing = call === 4 ? pause : undefined;
                  if (pausing !== undefined) pause = undefined;
                  await pausing?.();
                }
                afterwards(times);
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.create(team, { brief: "x" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "paused" });
    expect(asked.splice(0)).toHaveLength(4);
    return { maestro, id: session.id, asked };
  }

  it("pays only for calls that are not recorded, and reports the savings", async () => {
    const place = new TeamPlace();
    const { maestro, id, asked } = await paused(place);
    const { personas } = await maestro.planFork(id, { at: "b" });
    expect(personas.map(({ action }) => action)).toEqual(["kept", "runs"]);
    const fork = await maestro.fork(id, { at: "b" });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(asked.splice(0)).toEqual([expect.stringContaining("Call 5")]);
    expect(await savedBy(maestro, fork.id)).toBe(4 * 15);
    const twice = await maestro.fork((await maestro.fork(id, { at: "b" })).id, { at: "a" });
    expect(await maestro.executeBatch(twice.id)).toMatchObject({ status: "completed" });
    expect(asked).toHaveLength(1);
  });

  it("calls the model again in the attempt after a failed one, as every attempt does", async () => {
    const place = new TeamPlace();
    const { maestro, id, asked } = await paused(place, (times) => {
      if (times === 2) throw new Error("not good enough");
    });
    const fork = await maestro.fork(id, { at: "b" });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(asked).toHaveLength(1 + 5);
  });
});

describe("a fork of a session with a persona that needs help", () => {
  /** pb makes a call and then fails, in a step or by itself, until the cause is fixed. */
  async function parked(place: TeamPlace, inStep: boolean) {
    const maestro = await place.open();
    const { asked, ask } = counted();
    const world = { isMended: false };
    const look = () => {
      if (!world.isMended) throw new Error("something is wrong");
      return null;
    };
    const team = defineTeam("help", {
      phases: [
        phase("b", {
          personas: [
            persona("pb", {
              run: place.work("pb", async (context) => {
                await ask(context, "The only call");
                if (inStep) await context.step("look", look);
                else look();
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "help" });
    const before = asked.splice(0).length;
    world.isMended = true;
    const fork = await maestro.fork(session.id, { at: "b" });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    return { before, after: asked.length };
  }

  it("continues from the failed step and runs that one again", async () => {
    expect(await parked(new TeamPlace(), true)).toEqual({ before: 1, after: 0 });
  });

  it("starts a new conversation where the work itself failed, as a resume does", async () => {
    expect(await parked(new TeamPlace(), false)).toEqual({ before: 6, after: 1 });
  });
});

describe("a fork of a fork", () => {
  /** Each asks one question that is always the same and one about all it reads. */
  function line(place: TeamPlace, ask: ReturnType<typeof counted>["ask"]) {
    return defineTeam("line", {
      phases: ["a", "b", "c"].map((name) =>
        phase(name, {
          personas: [
            persona(`p${name}`, {
              run: place.work(`p${name}`, async (context) => {
                await ask(context, `Always the same of ${name}`);
                await ask(context, JSON.stringify(context.context.results));
                return { said: name };
              }),
            }),
          ],
        }),
      ),
    });
  }

  async function forkedOnce(place: TeamPlace) {
    const { asked, ask } = counted();
    const maestro = await place.open();
    const session = await maestro.start(line(place, ask), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const fork = await maestro.fork(session.id, { at: "c", edits: { b: { outputs: { said: "bb" } } } });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    asked.length = 0;
    return { maestro, id: session.id, fork: fork.id, asked };
  }

  it("at an earlier phase pays for no call that its first session recorded, even after that was pruned", async () => {
    const place = new TeamPlace();
    const { maestro, fork, asked } = await forkedOnce(place);
    const edits = { a: { outputs: { said: "other" } } };
    const second = await maestro.fork(fork, { at: "b", edits });
    await maestro.prune({ olderThanMs: 0, keep: 0 });
    await expect(maestro.show(fork)).rejects.toThrow(/no session/);
    expect(await maestro.executeBatch(second.id)).toMatchObject({ status: "completed" });
    expect(asked.filter((prompt) => prompt.includes("Always the same"))).toEqual([]);
    expect(asked).toHaveLength(2);
    expect(await savedBy(maestro, second.id)).toBe(2 * 15);
  });

  it("saves as much as a fork of the first session does", async () => {
    const place = new TeamPlace();
    const { maestro, id, fork, asked } = await forkedOnce(place);
    const direct = await maestro.fork(id, { at: "a" });
    const indirect = await maestro.fork(fork, { at: "a" });
    for (const { id } of [direct, indirect])
      expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
    expect(asked).toEqual([]);
    expect(await savedBy(maestro, direct.id)).toBe(6 * 15);
    expect(await savedBy(maestro, indirect.id)).toBe(6 * 15);
  });
});
