import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, onTestFinished, test } from "vitest";
import { ManualClock } from "../../src/domain/manual-clock.ts";
import {
  defineTeam,
  LeaseHeld,
  type Maestro,
  open,
  type PersonaFunction,
  persona,
  phase,
} from "../../src/index.ts";
import { newStateDir } from "./damage-support/temporary-directory.ts";
import { ThreePhases } from "./damage-support/three-phases.ts";

let original: ThreePhases;
beforeAll(async () => {
  original = await ThreePhases.pausedInTest(newStateDir());
});

function listing(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).sort();
}

describe("a session id from outside", () => {
  const bait = "01bait00000000000000000000";

  test.each([
    ["a path upward", () => `../../${bait}`],
    ["a path upward from a session", (session: ThreePhases) => `${session.id}/../../../${bait}`],
    ["a path elsewhere", () => "/etc"],
    ["the bait's own path", (session: ThreePhases) => join(dirname(session.stateDir), bait)],
    ["dots", () => ".."],
    ["a NUL", (session: ThreePhases) => `${session.id}\0`],
    ["a newline", (session: ThreePhases) => `${session.id}\n`],
    ["a million characters", () => "x".repeat(1_000_000)],
    ["ten thousand dots", () => "../".repeat(10_000)],
    ["SQL", () => "' OR 1=1 --"],
    ["nothing", () => ""],
    ["a name of every object", () => "__proto__"],
  ])("that is %s finds no session and touches no file outside", async (_, make) => {
    const session = original.copy(newStateDir());
    const outside = dirname(session.stateDir);
    cpSync(session.folder, join(outside, bait), { recursive: true });
    const id = make(session);
    const before = listing(outside);
    await session.with(async (maestro) => {
      const asked = [
        () => maestro.resume(id),
        () => maestro.show(id),
        () => maestro.checkpoints(id),
        () => maestro.pause(id),
        () => maestro.cancel(id),
        () => maestro.executeBatch(id),
      ];
      for (const ask of asked) {
        const error: unknown = await ask().catch((reason: unknown) => reason);
        expect(["SessionNotFound", "InputInvalid"]).toContain((error as Error).name);
      }
    });
    const added = listing(outside).filter((name) => !before.includes(name));
    expect(added.filter((name) => !name.includes("maestro.db"))).toEqual([]);
  });
});

describe("results with keys such as __proto__ and constructor", () => {
  const awkward = JSON.parse(
    '{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":2}},"toString":3,"a":{"__proto__":[4]}}',
  ) as Record<string, never>;

  test("survive a restart unchanged and do not change other objects", async () => {
    const stateDir = newStateDir();
    let maestro: Maestro | undefined;
    let isFirst = true;
    const seen: string[] = [];
    const run: PersonaFunction = async ({ step, context }) => {
      seen.push(JSON.stringify(await step("awkward", () => awkward)));
      if (isFirst) await maestro?.pause(context.sessionId);
      seen.push(JSON.stringify(context.results["one"]?.["worker"]?.outputs ?? awkward));
      await step("last", () => 1, { input: awkward });
      return { summary: "done", outputs: awkward };
    };
    const workers = [persona("worker", { run })];
    const team = defineTeam("awkward", {
      phases: [phase("one", { personas: workers }), phase("two", { personas: workers })],
    });
    for (isFirst of [true, false]) {
      maestro = await open({ stateDir, teams: [team] });
      const result = await (await maestro.start(team, { brief: "b", key: "k" })).result();
      expect(result.status).toBe(isFirst ? "paused" : "completed");
      const { one, two } = result.results;
      for (const done of isFirst ? [] : [one, two]) {
        expect(JSON.stringify(done?.["worker"]?.outputs)).toBe(JSON.stringify(awkward));
      }
      expect((await maestro.checkpoints("k")).every(({ valid }) => valid)).toBe(true);
      await maestro.close();
    }
    expect(new Set(seen)).toEqual(new Set([JSON.stringify(awkward)]));
    expect("polluted" in {}).toBe(false);
  });
});

describe("input above a limit", () => {
  async function failureOf(run: PersonaFunction, stateDir = newStateDir()) {
    const team = defineTeam("heavy", { phases: [phase("one", { personas: [persona("worker", { run })] })] });
    const maestro = await open({ stateDir, attempts: { max: 1 }, rounds: { max: 1 } });
    const result = await (await maestro.start(team, { brief: "b" })).result();
    const [session] = await maestro.sessions();
    const { phases } = await maestro.show(session?.id ?? "");
    await maestro.close();
    expect(result).toMatchObject({ status: "parked", reason: "help" });
    return phases[0]?.personas[0]?.attempts[0]?.failure?.message;
  }

  test("a result with 10,000 levels is refused with the name of its step", async () => {
    const deep = JSON.parse(`${"[".repeat(10_000)}${"]".repeat(10_000)}`) as never;
    expect(await failureOf(async ({ step }) => step("deep", () => deep))).toMatch(/"deep".*nested deeper/);
    expect(await failureOf(async () => ({ summary: "s", outputs: { deep } }))).toMatch(
      /worker.*nested deeper/,
    );
  });

  test.each([
    ["33 MiB", () => "x".repeat(33 * 2 ** 20)],
    ["more characters than a string can hold", () => Array.from({ length: 40 }, () => "x".repeat(2 ** 24))],
  ])("a result of %s is refused quickly and not stored", async (_, make) => {
    const stateDir = newStateDir();
    const large = make();
    const begun = performance.now();
    const message = await failureOf(async ({ step }) => {
      await step<unknown>("large", () => large);
      return { summary: "done" };
    }, stateDir);
    expect(message).toContain('the result of step "large" is larger than the limit');
    expect(performance.now() - begun).toBeLessThan(120_000);
    expect(listing(stateDir).filter((name) => name.includes("artifacts"))).toEqual([]);
  });

  test.each([
    ["a brief over 1 MiB", { brief: "é".repeat(2 ** 19 + 1) }],
    ["an empty brief", { brief: " \n" }],
    ["a key over 200 characters", { brief: "b", key: "k".repeat(201) }],
    ["an empty key", { brief: "b", key: " " }],
  ])("%s is refused and no session is created", async (_, brief) => {
    const session = new ThreePhases(newStateDir());
    await session.with(async (maestro) => {
      await expect(maestro.create(session.team, brief)).rejects.toMatchObject({ name: "InputInvalid" });
      expect(await maestro.sessions()).toEqual([]);
    });
    expect(listing(session.stateDir).filter((name) => !name.startsWith("maestro.db"))).toEqual([]);
  });
});

test("a clock that is set back an hour between two runs changes only the recorded times", async () => {
  const clock = new ManualClock();
  const session = new ThreePhases(newStateDir());
  const life = () =>
    session.with(
      async (maestro) => {
        const started = await maestro.start(session.team, { brief: "b", key: "k" });
        const result = await started.result();
        const other = await maestro.create(session.team, { brief: "another" });
        return { result, ids: [result.id, other.id] };
      },
      { clock },
    );
  const first = await life();
  expect(first.result.status).toBe("paused");
  clock.jump(-3_600_000);
  session.paused = false;
  const second = await life();
  expect(second.result).toMatchObject({ id: first.result.id, status: "completed" });
  expect(session.ran).toEqual(
    ["plan", "build", "test"].flatMap((name) => [`${name} first`, `${name} second`]),
  );
  expect(new Set([...first.ids, ...second.ids]).size).toBe(3);
  const listed = await session.with((maestro) => maestro.sessions(), { clock });
  expect(listed.map(({ id }) => id as string)).toEqual([second.ids[1], first.ids[1], first.ids[0]]);
  session.id = first.result.id;
  const checkpoints = await session.with((maestro) => maestro.checkpoints(session.id), { clock });
  expect(checkpoints.map(({ phase, valid }) => [phase, valid])).toEqual(
    ["init", "plan", "build", "test"].map((name) => [name, true]),
  );
});

test("a second process gets the owner of the lease, and takes over at once when the owner is killed", async () => {
  const session = new ThreePhases(newStateDir());
  const program = fileURLToPath(new URL("damage-support/hold.ts", import.meta.url));
  const child = spawn(process.execPath, [program, session.stateDir], { stdio: ["pipe", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  const [id] = (await once(child.stdout.setEncoding("utf8"), "data")) as [string];
  session.id = id;
  const error = await session.refusal();
  expect(error).toBeInstanceOf(LeaseHeld);
  expect(error.message).toContain(`process ${child.pid}`);
  expect(error.details).toMatchObject({ session: id, pid: child.pid });
  child.kill("SIGKILL");
  await once(child, "exit");
  session.paused = false;
  const begun = performance.now();
  const { result, ran } = await session.resume();
  expect(result.status).toBe("completed");
  expect(ran).toHaveLength(6);
  expect(performance.now() - begun).toBeLessThan(60_000);
});
