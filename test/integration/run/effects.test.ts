import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import { isolatedTeam } from "../../../src/api/isolated-team.ts";
import {
  DidNotHappen,
  defineTeam,
  type Maestro,
  type PersonaContext,
  persona,
  phase,
  type StepOptions,
  type Team,
} from "../../../src/index.ts";
import { readRecorded } from "../../crash/support/recorded.ts";
import { TeamPlace } from "./place.ts";
import mortalTeam from "./programs/effects-team.ts";

const key = "k";
const done = { summary: "done" };
const unknown = { status: "parked", reason: "unknown" };

const only = (run: (context: PersonaContext) => Promise<{ summary: string }>, timeoutMs?: number): Team =>
  defineTeam("effects", {
    phases: [
      phase("work", { personas: [persona("payer", { run, ...(timeoutMs !== undefined && { timeoutMs }) })] }),
    ],
  });

/** A side file in memory. */
class Outside {
  readonly happened: string[] = [];

  once(
    { step }: PersonaContext,
    name: string,
    then: () => unknown = () => `${name} done`,
    options: StepOptions = {},
  ): Promise<unknown> {
    const effect = () => {
      this.happened.push(name);
      return then();
    };
    return step<unknown>(name, effect, { ...options, effect: "once" });
  }
}

const run = async (maestro: Maestro, team: Team) => (await maestro.start(team, { brief: "b", key })).result();

const failing = (): never => {
  throw new Error("The line is dead.");
};

async function attemptsOf(maestro: Maestro): Promise<number> {
  const { phases } = await maestro.show(key);
  return phases.flatMap(({ personas }) => personas.flatMap(({ attempts }) => attempts)).length;
}

describe("an effect that must not be repeated in silence", () => {
  test("and that fails parks the session, uses up no attempt and is not retried", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      const paid = await outside.once(context, "pay", failing);
      return { summary: String(paid) };
    });
    const ended = await run(maestro, team);
    expect(ended).toMatchObject({ ...unknown, ticket: { status: expect.any(String) } });
    expect(ended.error?.message).toContain("It failed and may have happened: The line is dead.");
    expect(await (await maestro.resume(key)).result()).toMatchObject(unknown);
    expect(outside.happened).toEqual(["pay"]);
    const view = await maestro.show(key);
    const [effect] = view.effects;
    expect(effect).toMatchObject({ name: "pay", state: "unknown", phase: "work", persona: "payer" });
    expect(view.waiting).toEqual([
      { seq: effect?.seq, kind: "effect", persona: "payer", call: { name: "pay" } },
    ]);
    await maestro.settle(key, "pay", { happened: true, result: "receipt 7" });
    expect(await maestro.show(key)).toMatchObject({ status: "paused", waiting: [] });
    const { results } = await (await maestro.resume(key)).result();
    expect(results["work"]?.["payer"]?.summary).toBe("receipt 7");
    expect(outside.happened).toEqual(["pay"]);
    expect(await attemptsOf(maestro)).toBe(1);
    expect(await maestro.show(key)).toMatchObject({ status: "completed", effects: [{ state: "happened" }] });
    await expect(maestro.settle(key, effect?.seq ?? 0, { happened: false })).rejects.toThrow("already known");
  });

  test("runs after a person said that it did not happen", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", () => (outside.happened.length === 1 ? failing() : "paid"));
      return done;
    });
    await run(maestro, team);
    await maestro.settle(key, "pay", { happened: false });
    expect((await (await maestro.resume(key)).result()).status).toBe("completed");
    expect(outside.happened).toEqual(["pay", "pay"]);
  });

  test("parks although the work catches its error and returns", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", failing).catch(() => "never mind");
      return done;
    });
    expect(await run(maestro, team)).toMatchObject(unknown);
  });

  test("that throws DidNotHappen is retried like any other step", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", () => {
        if (outside.happened.length < 3) throw new DidNotHappen("The bank is closed.");
      });
      return done;
    });
    expect((await run(maestro, team)).status).toBe("completed");
    expect(outside.happened).toHaveLength(3);
    expect(await attemptsOf(maestro)).toBe(3);
    expect((await maestro.show(key)).effects).toMatchObject([{ name: "pay", state: "happened" }]);
  });

  test("that hangs until its attempt times out has an unknown outcome", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const hang = () => new Promise<never>(() => undefined);
    const team = only(async (context) => {
      await outside.once(context, "pay", hang);
      return done;
    }, 200);
    const ended = await run(maestro, team);
    expect(ended).toMatchObject(unknown);
    expect(outside.happened).toEqual(["pay"]);
    expect(await attemptsOf(maestro)).toBe(1);
  });

  test("whose result cannot be recorded happened, and says so", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", () => 7n);
      return done;
    });
    const ended = await run(maestro, team);
    expect(ended).toMatchObject(unknown);
    expect(ended.error?.message).toContain("It happened, and its result cannot be recorded");
  });

  test("happens once over all attempts and rounds of work that fails otherwise", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const results: unknown[] = [];
    const team = only(async (context) => {
      results.push(await outside.once(context, "pay"));
      throw new Error("not good enough");
    });
    expect(await run(maestro, team)).toMatchObject({ status: "parked", reason: "help" });
    expect(outside.happened).toEqual(["pay"]);
    expect(results).toEqual(Array.from({ length: 6 }, () => "pay done"));
  });

  test("stays listed when its session is canceled in the middle of it, and can be settled then", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      const aborted = () =>
        new Promise((_, reject) => context.signal.addEventListener("abort", () => reject(new Error("stop"))));
      await outside.once(context, "pay", aborted);
      return done;
    });
    const session = await maestro.start(team, { brief: "b", key });
    await vi.waitUntil(() => outside.happened.length === 1);
    await expect(maestro.settle(key, "pay", { happened: true })).rejects.toThrow("is running");
    await maestro.cancel(key);
    expect((await session.result()).status).toBe("canceled");
    expect(await maestro.show(key)).toMatchObject({ status: "canceled", effects: [{ state: "unknown" }] });
    await maestro.settle(key, "pay", { happened: true });
    expect(await maestro.show(key)).toMatchObject({ status: "canceled", effects: [{ state: "happened" }] });
  });

  test("must be named by its number where two of one name are unknown", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await Promise.all([1, 2].map((input) => outside.once(context, "pay", failing, { input })));
      return done;
    });
    expect(await run(maestro, team)).toMatchObject(unknown);
    await expect(maestro.settle(key, "pay", { happened: true })).rejects.toThrow("More than one effect");
    for (const { seq } of (await maestro.show(key)).effects)
      await maestro.settle(key, seq, { happened: true });
    expect((await (await maestro.resume(key)).result()).status).toBe("completed");
  });

  test("of the same name and another input waits until the first one is settled", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    let amount = 1;
    const team = only(async (context) => {
      await outside.once(context, "pay", () => (amount === 1 ? failing() : "paid"), { input: amount });
      return done;
    });
    await run(maestro, team);
    amount = 2;
    expect(await (await maestro.resume(key)).result()).toMatchObject(unknown);
    expect(outside.happened, "the changed call was not made").toEqual(["pay"]);
  });
});

describe("a probe", () => {
  test("that says that the effect happened gives the result", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    let isKnown = false;
    const probe = () => (isKnown ? ({ happened: true, result: "found" } as const) : undefined);
    const team = only(async (context) => {
      const paid = await outside.once(context, "pay", failing, { probe });
      return { summary: String(paid) };
    });
    await run(maestro, team);
    isKnown = true;
    const { results } = await (await maestro.resume(key)).result();
    expect(results["work"]?.["payer"]?.summary).toBe("found");
    expect(outside.happened).toEqual(["pay"]);
  });

  test.each<[string, StepOptions["probe"], string]>([
    [
      "that says that it did not happen is not believed while the process that began it lives",
      () => ({ happened: false }),
      "may still be alive",
    ],
    ["that throws cannot say", failing, "The line is dead."],
    ["that answers something else cannot say", () => "yes" as never, "The line is dead."],
  ])("%s", async (_, probe, message) => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", failing, { probe });
      return done;
    });
    await run(maestro, team);
    const again = await (await maestro.resume(key)).result();
    expect(again).toMatchObject(unknown);
    expect(again.error?.message).toContain(message);
    expect(outside.happened).toEqual(["pay"]);
  });
});

describe("effects that happened are repeated only when a person says so", () => {
  const paying = (outside: Outside) =>
    only(async (context) => {
      await outside.once(context, "pay");
      return done;
    });

  test("by a rejection", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = paying(outside);
    await (await maestro.start(team, { brief: "b", key, pauseAfter: ["work"] })).result();
    await expect(maestro.reject(key, { note: "again" })).rejects.toThrow(
      "would repeat effects that happened: pay",
    );
    await maestro.reject(key, { note: "again", repeatEffects: true });
    await (await maestro.resume(key)).result();
    expect(outside.happened).toEqual(["pay", "pay"]);
    expect((await maestro.show(key)).effects).toHaveLength(2);
  });

  test("by a fresh fork", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open({ teams: [paying(outside)] });
    await run(maestro, paying(outside));
    const fresh = { at: "work", fresh: true };
    expect((await maestro.planFork(key, fresh)).effects).toMatchObject([{ name: "pay", phase: "work" }]);
    await expect(maestro.fork(key, fresh)).rejects.toThrow("would repeat effects that happened: pay");
    const fork = await maestro.fork(key, { ...fresh, repeatEffects: true });
    expect((await (await maestro.resume(fork.id)).result()).status).toBe("completed");
    expect(outside.happened).toEqual(["pay", "pay"]);
  });

  test("and a session with an unknown outcome is not forked at all", async () => {
    const [place, outside] = [new TeamPlace(), new Outside()];
    const maestro = await place.open();
    const team = only(async (context) => {
      await outside.once(context, "pay", failing);
      return done;
    });
    await run(maestro, team);
    await expect(maestro.fork(key, { at: "work", fresh: true, repeatEffects: true })).rejects.toThrow(
      'The outcome of the effect "pay"',
    );
  });
});

test("an effect in a process of its own that dies has an unknown outcome, which its probe may know", async () => {
  const place = new TeamPlace();
  const file = join(import.meta.dirname, "programs", "effects-team.ts");
  const team = isolatedTeam(mortalTeam, file, { memoryMb: 512, prices: undefined });
  const maestro = await place.open();
  const side = join(place.stateDir, "side");
  const session = await maestro.start(team, { brief: side, key });
  expect(await session.result()).toMatchObject(unknown);
  expect(readFileSync(side, "utf8")).toBe("paid\n");
  writeFileSync(`${side}.ledger`, "");
  const { results } = await (await maestro.resume(key)).result();
  expect(results["work"]?.["payer"]?.summary).toBe("receipt 1");
  expect(readFileSync(side, "utf8")).toBe("paid\n");
});

describe("a tool of the team's own that is not repeatable", () => {
  const call = { calls: [{ tool: "pay", input: { amount: 7 } }] };
  const write = { calls: [{ tool: "write_file", input: { path: "a.md", content: "a" } }] };
  const submit = { calls: [{ tool: "submit", input: { summary: "done" } }] };

  /** The turns of each attempt. */
  async function start(outside: Outside, then: () => string, attempts: readonly (readonly object[])[]) {
    const place = new TeamPlace();
    const script = join(place.stateDir, "script.json");
    writeFileSync(script, JSON.stringify({ personas: { dev: attempts } }));
    const maestro = await place.open({ script });
    const pay = {
      description: "Pays.",
      inputSchema: { type: "object", properties: { amount: { type: "number" } } },
      execute: () => {
        outside.happened.push("pay");
        return then();
      },
    };
    const contract = { deliverables: [{ name: "a", files: ["a.md"] }] };
    const tools = { pay, write_file: true };
    const dev = persona("dev", { instructions: "Pay.", tools: tools as never, contract });
    const team = defineTeam("tools", { model: "simulated", phases: [phase("work", { personas: [dev] })] });
    const result = await run(maestro, team);
    const rowsOf = async () => (await readRecorded(place.stateDir, key)).rows;
    return { maestro, result, rowsOf };
  }

  test("gives later attempts the recorded result on other files, and their prompt names the call", async () => {
    const outside = new Outside();
    const { result, rowsOf } = await start(outside, () => "receipt 7", [
      [call, submit],
      [write, call, submit],
    ]);
    expect(result.status).toBe("completed");
    expect(outside.happened).toEqual(["pay"]);
    const rows = await rowsOf();
    const paid = rows.filter(({ kind, name }) => kind === "step.tool" && name === "pay");
    expect(paid.map(({ body }) => body.includes("receipt 7"))).toEqual([true, true]);
    const models = rows.filter(({ kind }) => kind === "step.model").map(({ body }) => body);
    expect(models[0]).not.toContain("Effects that happened");
    expect(models.some((body) => body.includes("Effects that happened"))).toBe(true);
  });

  test("has an unknown outcome when it throws, and a person's result reaches the model", async () => {
    const outside = new Outside();
    const { maestro, result, rowsOf } = await start(outside, failing, [[write, call, submit]]);
    expect(result).toMatchObject(unknown);
    const { waiting } = await maestro.show(key);
    expect(waiting).toMatchObject([
      { kind: "effect", persona: "dev", call: { call: { tool: "pay", arguments: { amount: 7 } } } },
    ]);
    await maestro.settle(key, "pay", { happened: true, result: { receipt: 9 } });
    expect((await (await maestro.resume(key)).result()).status).toBe("completed");
    expect(outside.happened).toEqual(["pay"]);
    const rows = await rowsOf();
    const paid = rows.filter(({ kind, name }) => kind === "step.tool" && name === "pay");
    expect(paid.map(({ body }) => JSON.parse(body).result.output)).toEqual(['{"receipt":9}']);
  });
});
