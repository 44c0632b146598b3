import { describe, expect, it } from "vitest";
import {
  ContractUnfulfilled,
  defineTeam,
  type Healer,
  HelpNeeded,
  type PersonaContext,
  type PersonaOptions,
  persona,
  phase,
} from "../../../src/index.ts";
import { Lives } from "./lives.ts";
import { TeamPlace } from "./place.ts";

/** The work returns nothing of what the contract asks for; what the healers do is all there is. */
async function heal(healers: readonly Healer[], options: Omit<PersonaOptions, "run"> = {}) {
  const place = new TeamPlace();
  const maestro = await place.open({ healers, attempts: { max: 2, baseDelayMs: 1 }, rounds: { max: 1 } });
  const contract = { deliverables: ["a.txt", "b.txt"] };
  const found: (readonly string[])[] = [];
  const run = place.work("worker", ({ workspace }) => {
    found.push(workspace.list());
  });
  const worker = persona("worker", { contract, ...options, run } as PersonaOptions);
  const team = defineTeam("faulty", { phases: [phase("work", { personas: [worker] })] });
  const session = await maestro.start(team, { brief: "x" });
  const result = await session.result();
  const view = await maestro.show(session.id);
  const [attempt] = view.phases[0]?.personas[0]?.attempts ?? [];
  const failed = place.events.find(({ kind }) => kind === "attempt.failed") as
    | { readonly settings?: object }
    | undefined;
  const files = view.artifacts.map(({ path }) => path);
  const { settings } = failed ?? {};
  return { result, healing: attempt?.healing, files, settings, foundByTheNext: found[1] };
}

const named = (name: string, act: Healer["heal"]): Healer => ({ name, categories: ["CONTRACT"], heal: act });

const writes = (path: string, remedy: unknown = { action: `wrote ${path}` }): Healer =>
  named(path, async ({ workspace }) => {
    await workspace.write(path, "x");
    return remedy as never;
  });

const broken = named("broken", async ({ workspace }) => {
  await workspace.write("b.txt", "x");
  throw new Error("no idea; token sk-ant-REDACTED");
});

describe("a healer that throws", () => {
  it("is recorded and rolled back, and the other healers still run", async () => {
    const { result, healing, files } = await heal([writes("a.txt"), broken, writes("b.txt")]);
    expect(result.status).toBe("completed");
    expect(healing).toMatchObject([
      { healer: "a.txt", outcome: "kept" },
      { healer: "broken", action: expect.stringMatching(/^failed: no idea/), outcome: "rolled-back" },
      { healer: "b.txt", outcome: "passed" },
    ]);
    expect(files).toEqual(["a.txt", "b.txt"]);
    expect(JSON.stringify(healing)).not.toContain("sk-ant");
  });

  it("does not undo changes that were kept before it", async () => {
    const { healing, foundByTheNext } = await heal([writes("a.txt"), broken]);
    expect(healing).toMatchObject([{ outcome: "kept" }, { healer: "broken", outcome: "rolled-back" }]);
    expect(foundByTheNext).toEqual(["a.txt"]);
  });
});

describe("a healer with an invalid answer", () => {
  it.each([
    ["nothing in it", {}],
    ["no action", { action: null }],
    ["a number as action", { action: 5 }],
    ["not even an object", "healed"],
    ["a list", []],
    ["imports that are none", { action: { kind: "fixed-imports" } }],
    ["imports of another form", { action: { kind: "fixed-imports", imports: [{ path: 1 }] } }],
    ["a tool without a command", { action: { kind: "ran-tool" } }],
    ["outputs that are no object", { action: "repaired", outputs: [1] }],
    ["no words", { action: { kind: "custom" } }],
    ["a kind that is no word", { action: { kind: { prayed: true } } }],
  ])("(%s) is recorded and rolled back", async (_, remedy) => {
    const { result, healing, foundByTheNext } = await heal([writes("a.txt", remedy)]);
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(healing).toMatchObject([
      {
        healer: "a.txt",
        action: expect.stringMatching(/^failed: /),
        did: { kind: "custom", paths: ["a.txt"] },
        outcome: "rolled-back",
      },
    ]);
    expect(foundByTheNext).toEqual([]);
  });

  it("changes no file silently", async () => {
    const idle = named("idle", async () => undefined);
    const { healing, foundByTheNext } = await heal([writes("a.txt", null), idle]);
    expect(healing).toMatchObject([{ healer: "a.txt", did: { paths: ["a.txt"] }, outcome: "rolled-back" }]);
    expect(foundByTheNext).toEqual([]);
  });

  it("cannot bypass the policy", async () => {
    const policy = { write: ["src/**"] };
    const contract = { deliverables: ["src/*.txt"] };
    const healers = [writes("deploy/prod.yaml", {}), writes("src/a.txt")];
    const { result, files } = await heal(healers, { policy, contract });
    expect(result.status).toBe("completed");
    expect(files).toEqual(["src/a.txt"]);
  });

  const limit = (to: unknown, name = "timeoutMs") => ({
    action: { kind: "raised-limit", limit: name, from: 1, to },
  });
  it.each([
    [limit(Number.NaN)],
    [limit("1h")],
    [limit(-5)],
    [limit(0.5, "maxOutputTokens")],
    [limit(5, "budget")],
    [{ action: { kind: "shortened-context", from: 1, to: -1 } }],
    [{ action: { kind: "shortened-context", from: 1, to: 2 } }],
    [{ action: { kind: "switched-model", from: "a/b", to: 5 } }],
    [{ action: { kind: "switched-model", from: "a/b", to: "" } }],
    [{ action: "changed all", settings: { model: 5 } }],
    [{ action: "changed all", settings: { timeoutMs: "long" } }],
    [{ action: "changed all", settings: 7 }],
    [{ action: { kind: "custom", words: "changed all", settings: { to: { contextShare: 9 } } } }],
  ])("does not change how the next attempt works: %j", async (remedy) => {
    const { healing, settings } = await heal([named("own", async () => remedy as never)]);
    expect(healing).toMatchObject([{ healer: "own", outcome: "rolled-back" }]);
    expect(settings).toBeNull();
  });

  it("sets only known settings", async () => {
    const asked = { contextShare: 0.5, sudo: true };
    const own = named("own", async () => ({ action: "half", settings: asked }));
    expect((await heal([own])).settings).toEqual({ contextShare: 0.5 });
  });
});

it("a healer that changes the outputs it gets changes only its copy", async () => {
  const seen: unknown[] = [];
  const careless = named("careless", async ({ result }) => {
    Object.assign(result?.outputs ?? {}, { mended: true });
    return { action: "mended the outputs" };
  });
  const next = named("next", async ({ result }) => {
    seen.push(result?.outputs);
    return undefined;
  });
  await heal([careless, next]);
  expect(seen[0]).toEqual({});
});

describe("errors that must not be retried", () => {
  it("include policy violations: no healer runs, and the session fails", async () => {
    const asked: string[] = [];
    const lenient: Healer = {
      name: "lenient",
      categories: ["GOVERNANCE"],
      heal: async ({ failure }) => {
        asked.push(failure.category);
        return { action: "let it pass" };
      },
    };
    const place = new TeamPlace();
    const maestro = await place.open({ healers: [lenient] });
    const run = place.work("worker", ({ workspace }) => workspace.write("deploy/prod.yaml", "x"));
    const worker = persona("worker", { policy: { write: ["src/**"] }, run });
    const team = defineTeam("strict", { phases: [phase("work", { personas: [worker] })] });
    const result = await (await maestro.start(team, { brief: "x" })).result();
    expect(result).toMatchObject({ status: "failed", error: { code: "GOVERNANCE_VIOLATION" } });
    expect(asked).toEqual([]);
  });

  it("include requests for a person: no healer runs before", async () => {
    const asked: string[] = [];
    const eager: Healer = {
      name: "eager",
      categories: ["UNKNOWN"],
      heal: async ({ failure }) => {
        asked.push(failure.message);
        return undefined;
      },
    };
    const lives = new Lives();
    const work = () => {
      throw new HelpNeeded("Which of the two?");
    };
    expect(await lives.live(work, { healers: [eager] })).toMatchObject({ status: "parked", reason: "help" });
    expect(asked).toEqual([]);
  });
});

describe("a slow healer", () => {
  const once = { attempts: { max: 1 }, rounds: { max: 1 } };
  const healingOf = async (lives: Lives) =>
    (await lives.show()).phases[0]?.personas[0]?.attempts[0]?.healing ?? [];

  it("that never ends is abandoned after five minutes, and the other healers run", async () => {
    const lives = new Lives();
    const hanging = named("hanging", ({ workspace }) => {
      void workspace.write("litter.txt", "x");
      return Promise.withResolvers<undefined>().promise;
    });
    const next = named("next", async () => ({ action: "found out why" }));
    const work = () => {
      throw new ContractUnfulfilled("no good");
    };
    const result = await lives.live(work, { ...once, healers: [hanging, next] });
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    expect(await healingOf(lives)).toMatchObject([
      { healer: "hanging", action: "failed: The healer did not end within 300 s.", outcome: "rolled-back" },
      { healer: "next", did: { paths: [] } },
    ]);
  });

  it("that needs a service that is down is called once, also in the last attempt of a round", async () => {
    const lives = new Lives();
    let [asked, calls] = [0, 0];
    const remote = named("remote", async () => {
      asked += 1;
      throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
    });
    const work = async ({ step }: PersonaContext) => {
      await step("call", () => {
        calls += 1;
        if (calls === 1) throw Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });
      });
      throw new ContractUnfulfilled("no good");
    };
    const options = { attempts: { max: 2 }, rounds: { max: 1 }, healers: [remote] };
    expect(await lives.live(work, options)).toMatchObject({ status: "parked", reason: "help" });
    expect(asked).toBe(1);
  });

  it("after a silent attempt gets as much time as after any other", async () => {
    const lives = new Lives();
    const slow: Healer = {
      name: "slow",
      categories: ["TIMEOUT"],
      heal: async () => {
        await lives.clock.sleep(60_000);
        return { action: "half", settings: { contextShare: 0.5 } };
      },
    };
    const work = async ({ signal }: PersonaContext) => {
      await lives.clock.sleep(3_600_000, signal);
      return { summary: "late" };
    };
    const attempts = { max: 1, timeoutMs: 1_000 };
    await lives.live(work, { ...once, attempts, healers: [slow] });
    expect(await healingOf(lives)).toMatchObject([{ healer: "slow", outcome: "kept" }]);
  });
});

it.each([
  {},
  { name: "", categories: ["TYPE"], heal: async () => undefined },
  { name: "own", categories: "TYPE", heal: async () => undefined },
  { name: "own", categories: ["TYPES"], heal: async () => undefined },
  { name: "own", categories: ["TYPE"] },
])("an invalid healer is refused before anything runs: %j", async (healer) => {
  await expect(heal([healer as never])).rejects.toMatchObject({ code: "CONFIG_INVALID" });
});
