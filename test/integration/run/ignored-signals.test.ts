import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import {
  defineTeam,
  open,
  type PersonaContext,
  type PersonaFunction,
  persona,
  phase,
} from "../../../src/index.ts";
import { Lives } from "./lives.ts";

const service = "api.example.org";
const never = () => new Promise<never>(() => {});

/** Hangs the first time; time passes once it does. */
function deaf(lives: Lives, hang: (context: PersonaContext, begin: () => void) => Promise<unknown>) {
  const { promise, resolve: begin } = Promise.withResolvers<void>();
  lives.begun = promise;
  let tries = 0;
  return async (context: PersonaContext) => {
    await context.step("before", lives.effect("before", 1));
    tries += 1;
    if (tries === 1) await hang(context, begin);
    return { summary: `tried ${tries} times` };
  };
}

const minute = { attempts: { timeoutMs: 60_000 } };

test.each<[string, (context: PersonaContext, begin: () => void) => Promise<unknown>]>([
  ["between its steps", (_, begin) => (begin(), never())],
  ["in a step", ({ step }, begin) => step("hang", () => (begin(), never()))],
])(
  "work that hangs %s and ignores its signal is abandoned, and the next attempt continues",
  async (_, hang) => {
    const lives = new Lives();
    expect(await lives.live(deaf(lives, hang), minute)).toMatchObject({ status: "completed" });
    expect(lives.ran, "what was done before is not done again").toEqual(["before"]);
    expect(lives.rows("attempt.failed")).toMatchObject([{ failure: { category: "TIMEOUT", outage: true } }]);
  },
);

test.each<[string, (signal: AbortSignal) => Promise<unknown>]>([
  ["ignores its signal", never],
  [
    "obeys it",
    (signal) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(new Error("bye")))),
  ],
])(
  "a call without an answer until its attempt ends counts for the breaker, also one that %s",
  async (_, call) => {
    const lives = new Lives();
    const work = deaf(lives, ({ step, signal }, begin) =>
      step("call", () => (begin(), call(signal)), { dependency: service }),
    );
    lives.onEvent = ({ kind }) => kind === "attempt.failed" && lives.end();
    await lives.live(work, minute);
    const maestro = await open({ stateDir: lives.stateDir, clock: lives.clock });
    expect(await maestro.breakers()).toMatchObject([
      { dependency: service, record: { state: { failures: 1 } } },
    ]);
    await maestro.close();
  },
);

test("abandoned work can neither begin steps nor change files", async () => {
  const lives = new Lives();
  const late: Promise<unknown>[] = [];
  const { promise: awake, resolve: wake } = Promise.withResolvers<void>();
  let tries = 0;
  const result = await lives.live(async ({ step, workspace }) => {
    tries += 1;
    if (tries > 1) {
      wake();
      const ends = await Promise.allSettled(late);
      return { summary: [...ends.map(({ status }) => status), ...workspace.list()].join() };
    }
    late.push(awake.then(() => step("late", lives.effect("late", 1))));
    late.push(awake.then(() => workspace.write("late.txt", "late")));
    return never();
  }, minute);
  expect(result).toMatchObject({ results: { work: { worker: { summary: "rejected,rejected" } } } });
  expect(lives.ran).toEqual([]);
});

/** Real time: that it ends at all, and soon, is the point. */
const teamOf = (run: PersonaFunction) =>
  defineTeam("team", { phases: [phase("work", { personas: [persona("worker", { run })] })] });

test("a cancel ends a session whose function ignores its signal", async () => {
  const { stateDir } = new Lives();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const team = teamOf(({ step }) => step("hang", () => (begin(), never())));
  const maestro = await open({ stateDir, teams: [team] });
  const session = await maestro.start(team, { brief: "b" });
  await begun;
  await maestro.cancel(session.id);
  expect(await session.result()).toMatchObject({ status: "canceled" });
  await maestro.close();
});

test("closing ends while a function ignores its signal, and the session is left to be resumed", async () => {
  const { stateDir } = new Lives();
  const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
  const team = teamOf(() => (begin(), never()));
  const first = await open({ stateDir, teams: [team] });
  const session = await first.start(team, { brief: "b", key: "k" });
  await begun;
  await Promise.race([first.close(), delay(20_000).then(() => expect.fail("it does not close"))]);
  const second = await open({ stateDir, teams: [teamOf(() => ({ summary: "done" }))] });
  expect((await second.find(session.id)).status).toBe("running");
  expect(await (await second.resume("k")).result()).toMatchObject({ status: "completed" });
  await second.close();
});
