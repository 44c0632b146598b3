import { afterEach, describe, expect, it, vi } from "vitest";
import { defineTeam, type PersonaFunction, persona, phase, type SessionEvent } from "../../../src/index.ts";
import { readStepBody, summarizeStep } from "../../../src/journal/step-facts.ts";
import { calls, ModelHive } from "../../support/model-hive.ts";
import { TeamPlace } from "./place.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

/** Of each test its own: a process never forgets a secret. */
const secretOf = (name: string): string => `tr0ub4dor-of-${name.toLowerCase()}-3`;

const teamOf = (run: PersonaFunction) =>
  defineTeam("secretive", { phases: [phase("only", { personas: [persona("worker", { run })] })] });

const logged = (events: readonly SessionEvent[]): readonly string[] =>
  events.flatMap((event) => (event.kind === "log" ? [event.message] : []));

describe.each(["PGPASSWORD", "GITHUB_PAT", "SSHPASS", "DB_PASS", "SENTRY_DSN"])("the value of %s", (name) => {
  it("is not in the summary, the outputs, the decisions and the logs of a function", async () => {
    const secret = secretOf(name);
    vi.stubEnv(name, secret);
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = teamOf((context) => {
      context.log(`connects with ${secret}`);
      return {
        summary: `connected with ${secret}`,
        outputs: { address: `db://${secret}`, mode: "production" },
        decisions: [{ title: "which", choice: secret, reason: `because of ${secret}`, rejected: [secret] }],
      };
    });
    const session = await maestro.start(team, { brief: "x" });
    const { results } = await session.result();
    expect(results["only"]?.["worker"]).toEqual({
      summary: "connected with [redacted]",
      outputs: { address: "db://[redacted]", mode: "production" },
      decisions: [
        { title: "which", choice: "[redacted]", reason: "because of [redacted]", rejected: ["[redacted]"] },
      ],
    });
    expect(logged(place.events)).toEqual(["connects with [redacted]"]);
    const shown = JSON.stringify([await maestro.show(session.id), await maestro.checkpoints(session.id)]);
    expect(shown).not.toContain(secret);
  });
});

it("a step returns its secret to the code, in the first run and in a replay, and nothing shows it", async () => {
  const secret = secretOf("steps");
  vi.stubEnv("DB_PASS", secret);
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 2, baseDelayMs: 1 } });
  const returned: string[] = [];
  const team = teamOf(async ({ step, failures }) => {
    returned.push(await step("login", () => secret));
    const { message } = await step("open", () => ({ message: `opened with ${secret}` }));
    returned.push(message);
    await step("wait", () => {
      if (returned.length < 3) throw Object.assign(new Error(`refused ${secret}`), { code: "ECONNRESET" });
    });
    returned.push(...failures.map((failure) => failure.message));
    return { summary: "done" };
  });
  const session = await maestro.start(team, { brief: "x" });
  expect((await session.result()).status).toBe("completed");
  const opened = `opened with ${secret}`;
  expect(returned.slice(0, 4)).toEqual([secret, opened, secret, opened]);
  const shown: unknown[] = [await maestro.show(session.id), place.events, returned.slice(4)];
  for await (const page of maestro.rows(session.id))
    shown.push(...page.flatMap((row) => [readStepBody(row), summarizeStep(row)]));
  expect(JSON.stringify(shown)).not.toContain(secret);
  expect(JSON.stringify(shown)).toContain("opened with [redacted]");
});

it("an error that a function throws is recorded and shown without the secret", async () => {
  const secret = secretOf("errors");
  vi.stubEnv("DATABASE_URL", `postgres://me:${secret}@db.example/app`);
  const place = new TeamPlace();
  const maestro = await place.open({ attempts: { max: 1 }, rounds: { max: 1 } });
  const team = teamOf(() => {
    throw new Error(`login failed for ${secret}`, { cause: new Error(secret) });
  });
  const session = await maestro.start(team, { brief: "x" });
  const result = await session.result();
  expect(result.status).toBe("parked");
  expect(JSON.stringify([result, await maestro.show(session.id), place.events])).not.toContain(secret);
});

it("variables of an agent that are no secrets stay in its results", async () => {
  const secret = secretOf("agents");
  vi.stubEnv("NODE_ENV", "production");
  vi.stubEnv("SSHPASS", secret);
  const place = new TeamPlace();
  const maestro = await place.open();
  const script = `console.log(JSON.stringify({
    summary: "deployed to " + process.env.NODE_ENV,
    outputs: { target: process.env.NODE_ENV, password: process.env.SSHPASS },
  }))`;
  const agent = persona("agent", { command: ["node", "-e", script], env: ["NODE_ENV", "SSHPASS"] });
  const team = defineTeam("agents", { phases: [phase("only", { personas: [agent] })] });
  const { results } = await (await maestro.start(team, { brief: "x" })).result();
  expect(results["only"]?.["agent"]).toMatchObject({
    summary: "deployed to production",
    outputs: { target: "production", password: "[redacted]" },
  });
});

it("a secret that a model's answer brings in two pieces is not in the live text", async () => {
  const secret = secretOf("live");
  vi.stubEnv("GITHUB_PAT", secret);
  const text = `the token ${secret} works`;
  const heard: string[] = [];
  const hive = await ModelHive.open(() => ({ ...calls("submit", { summary: "done" }), text }), {
    onEvent: (event) => {
      if (event.kind === "text") heard.push(event.delta);
    },
  });
  const team = defineTeam("talks", {
    phases: [phase("only", { personas: [persona("talker", { instructions: "Talk." })] })],
  });
  const { result } = await hive.run(team, { model: "anthropic/claude-sonnet-4-5" });
  expect(result.status).toBe("completed");
  expect(heard.length).toBeGreaterThan(1);
  expect(heard.join("")).toBe("the token [redacted] works");
});
