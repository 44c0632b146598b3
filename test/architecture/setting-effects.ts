import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished, vi } from "vitest";
import type { ConfigOverrides, SettingKey, SettingValue } from "../../src/config/config.ts";
import type { PriceTable } from "../../src/cost/price-per-million.ts";
import { defineTeam, durableModel, LeaseHeld, type PersonaContext, persona, phase } from "../../src/index.ts";
import { describeSandbox } from "../../src/workspace/sandbox.ts";
import { answer, ownModel } from "../integration/run/own-models.ts";
import { LoopbackServer } from "../support/loopback-server.ts";
import { PaidModels } from "../support/paid-models.ts";
import { done, newFolder, ok, openWith, runWith, serveWith, teamOf, waitsWith } from "./setting-place.ts";
import { named, refusesName, seenByGithub, seenByJira, seenByWebhook } from "./ticket-settings.ts";

/** Values, and the effect that is visible outside with each. */
interface Effect<Value> {
  readonly cases: readonly (readonly [Value, unknown])[];
  readonly see: (value: Value) => Promise<unknown>;
}

function effect<Value>(see: Effect<Value>["see"], ...cases: Effect<Value>["cases"]): Effect<Value> {
  return { see, cases };
}

const outage = () => Object.assign(new Error("connect ECONNREFUSED"), { code: "ECONNREFUSED" });

const breakerWith = async (breaker: NonNullable<ConfigOverrides["breaker"]>) => {
  const { maestro } = await runWith({ breaker }, async ({ step }) => {
    await step("call", () => Promise.reject(outage()), { dependency: "api.example.org" });
    return done;
  });
  return (await maestro.breakers())[0]?.record.state;
};

/** Three calls of 6,000 tokens, $0.0075 each with gpt-5; the price of the other model is unknown. */
const asking = (modelId: string) => async (context: PersonaContext) => {
  const model = { ...ownModel(async () => answer(6_000, 0)), modelId };
  for (const text of ["first", "second", "third"])
    await durableModel(model, context).doGenerate({
      maxOutputTokens: 10,
      prompt: [{ role: "user", content: [{ type: "text", text }] }],
    });
  return done;
};

const statusWith = async (budget: NonNullable<ConfigOverrides["budget"]>, modelId = "gpt-5") =>
  (await runWith({ budget }, asking(modelId))).result.status;

const simulatedTeam = (contract = {}) =>
  defineTeam("simulated", {
    model: "simulated",
    phases: [phase("only", { personas: [persona("worker", { instructions: "Work.", ...contract })] })],
  });

async function summaryWith(simulatedScript: string): Promise<string | undefined> {
  const { maestro } = await openWith({ simulatedScript });
  const session = await maestro.start(simulatedTeam(), { brief: "b" });
  return (await session.result()).results["only"]?.["worker"]?.summary;
}

function scriptSaying(summary: string): string {
  const file = join(newFolder(), "script.json");
  const turn = { calls: [{ tool: "submit", input: { summary } }] };
  writeFileSync(file, JSON.stringify({ personas: { worker: [[turn]] } }));
  return file;
}

async function modelAskedWith(model: string): Promise<string | undefined> {
  const calls = [{ id: "c", tool: "submit", input: { summary: "done" } }];
  const models = await PaidModels.start(() => ({ calls }));
  for (const [name, value] of Object.entries(models.server.env)) vi.stubEnv(name, value);
  onTestFinished(async () => {
    vi.unstubAllEnvs();
    await models.close();
  });
  const { maestro } = await openWith({ model });
  await (await maestro.start(simulatedTeam(), { brief: "b" })).result();
  return models.log[0]?.model;
}

/** A driver on another machine sent its last heartbeat a minute ago. */
async function takenOverWith(leaseMs: number): Promise<boolean> {
  const { maestro } = await openWith({ leaseMs });
  const team = teamOf(async () => done);
  const { id } = await maestro.create(team, { brief: "b" });
  const database = new DatabaseSync(join(maestro.stateDirectory, "maestro.db"), { timeout: 5_000 });
  database
    .prepare("INSERT INTO owners VALUES ('far', 'machine', 'boot', 'ns', 1, '1', 0, ?)")
    .run(Date.now() - 60_000);
  database.exec("INSERT OR REPLACE INTO leases SELECT number, 9, 'far' FROM sessions");
  database.close();
  return (await maestro.resume(id)).result().then(
    ({ status }) => status === "completed",
    (error: unknown) => !LeaseHeld.is(error),
  );
}

async function checkedWith(sandboxRequired: boolean): Promise<string> {
  await describeSandbox(async () => ({ kind: "none", reason: "Not on this machine." }));
  const { maestro } = await openWith({ sandboxRequired });
  const checks = [{ name: "true", run: ["node", "--version"] }];
  const session = await maestro.start(simulatedTeam({ contract: { checks } }), { brief: "b" });
  return (await session.result()).status;
}

/** How many of three sessions run at the same time. */
async function placesWith(places: number): Promise<number> {
  const { promise: enough, resolve: end } = Promise.withResolvers<void>();
  let working = 0;
  const { server, team } = await serveWith({ server: { places, port: 0 } }, async () => {
    working += 1;
    await enough;
    return done;
  });
  for (const brief of ["one", "two", "three"]) await server.maestro.queue(team, { brief });
  server.drive();
  await vi.waitUntil(() => working >= places);
  // One poll later, an additional session would be running.
  await new Promise((resolve) => setTimeout(resolve, 50));
  const seen = working;
  end();
  return seen;
}

async function statusOf(
  settings: NonNullable<ConfigOverrides["server"]>,
  request: { url?: string; token?: string } = {},
): Promise<number> {
  const { server } = await serveWith({ server: { port: 4160, ...settings } });
  const { url = "http://127.0.0.1:4160", token = server.token } = request;
  return (await server.app.request(`${url}/v1/sessions`, { headers: { authorization: `Bearer ${token}` } }))
    .status;
}

async function answersAt(settings: NonNullable<ConfigOverrides["server"]>): Promise<string> {
  const { server } = await serveWith({ server: { port: 0, ...settings } });
  const { host, port } = await server.listen();
  const { status } = await fetch(`http://${host}:${port}/healthz`);
  return `${status} from ${host}${settings.port === undefined ? "" : `:${port}`}`;
}

async function findFreePort(): Promise<number> {
  const server = await new LoopbackServer(() => ok({})).listen();
  const { port } = server;
  await server.close();
  return port;
}

const [onePort, anotherPort] = [await findFreePort(), await findFreePort()];

/** One row for each setting: the compiler asks for it. */
export const effects: { readonly [Key in SettingKey]: Effect<NonNullable<SettingValue<Key>>> } = {
  stateDir: effect(
    async (name) => {
      const stateDir = join(newFolder(), name);
      await openWith({ stateDir });
      return existsSync(join(stateDir, "maestro.db"));
    },
    ["here", true],
    ["there", true],
  ),
  model: effect(modelAskedWith, ["openai-compatible/one", "one"], ["openai-compatible/two", "two"]),
  "attempts.max": effect(async (max) => (await waitsWith({ attempts: { max } })).length, [1, 0], [3, 2]),
  "attempts.baseDelayMs": effect(
    // Jitter adds up to half.
    async (baseDelayMs) => {
      const [waitMs = 0] = await waitsWith({ attempts: { max: 2, baseDelayMs, maxDelayMs: 10_000 } });
      return waitMs >= baseDelayMs && waitMs <= baseDelayMs * 1.5;
    },
    [20, true],
    [100, true],
  ),
  "attempts.maxDelayMs": effect(
    async (maxDelayMs) => (await waitsWith({ attempts: { max: 3, baseDelayMs: 20, maxDelayMs } }))[1],
    [20, 20],
    [30, 30],
  ),
  "attempts.timeoutMs": effect(
    async (timeoutMs) => {
      const { events } = await runWith(
        { attempts: { timeoutMs } },
        ({ signal }) => new Promise((_, reject) => signal.addEventListener("abort", reject)),
      );
      return events.flatMap((event) => (event.kind === "attempt.failed" ? [event.failure.message] : []));
    },
    [1_000, ["No progress for 1 s."]],
    [1_500, ["No progress for 1.5 s."]],
  ),
  "rounds.max": effect(async (max) => (await waitsWith({ rounds: { max } })).length, [1, 0], [3, 2]),
  "rounds.baseDelayMs": effect(
    (baseDelayMs) => waitsWith({ rounds: { max: 2, baseDelayMs, maxDelayMs: 10_000 } }),
    [20, [20]],
    [30, [30]],
  ),
  "rounds.maxDelayMs": effect(
    (maxDelayMs) => waitsWith({ rounds: { max: 3, baseDelayMs: 20, maxDelayMs } }),
    [20, [20, 20]],
    [30, [20, 30]],
  ),
  "breaker.threshold": effect(
    async (threshold) => (await breakerWith({ threshold }))?.kind,
    [1, "open"],
    [2, "closed"],
  ),
  "breaker.cooldownMs": effect(
    async (cooldownMs) => {
      const state = await breakerWith({ threshold: 1, cooldownMs });
      return state?.kind === "open" && state.probeAt - state.openedAt;
    },
    [60_000, 60_000],
    [120_000, 120_000],
  ),
  "jira.baseUrl": effect(
    async (path) => (await seenByJira({ path })).path,
    ["/one", "/one/rest/api/3/issue"],
    ["/two", "/two/rest/api/3/issue"],
  ),
  "jira.email": effect(
    async (email) => (await seenByJira({ email })).email,
    ["a@example.org", "a@example.org"],
    ["b@example.org", "b@example.org"],
  ),
  "jira.apiToken": effect(
    async (apiToken) => (await seenByJira({ apiToken })).apiToken,
    ["token-of-one", "token-of-one"],
    ["token-of-two", "token-of-two"],
  ),
  "jira.projectKey": effect(
    async (projectKey) => (await seenByJira({ projectKey })).project,
    ["ONE", "ONE"],
    ["TWO", "TWO"],
  ),
  "jira.allowInternal": effect(
    (allowInternal) => refusesName((url) => named.jira(url, allowInternal)),
    [true, false],
    [false, true],
  ),
  "github.apiUrl": effect(
    async (path) => (await seenByGithub({ path })).path,
    ["/one", "/one/repos/acme/one/issues"],
    ["/two", "/two/repos/acme/one/issues"],
  ),
  "github.allowInternal": effect(
    (allowInternal) => refusesName((url) => named.github(url, allowInternal)),
    [true, false],
    [false, true],
  ),
  "github.repository": effect(
    async (repository) => (await seenByGithub({ repository })).path,
    ["acme/one", "/repos/acme/one/issues"],
    ["acme/two", "/repos/acme/two/issues"],
  ),
  "github.token": effect(
    async (token) => (await seenByGithub({ token })).authorization,
    ["token-of-one", "Bearer token-of-one"],
    ["token-of-two", "Bearer token-of-two"],
  ),
  "webhook.url": effect(
    async (path) => (await seenByWebhook({ path })).path,
    ["/one", "/one"],
    ["/two", "/two"],
  ),
  "webhook.secret": effect(
    async (secret) => {
      const { signedWith } = await seenByWebhook({ secret });
      return ["secret-number-one", "secret-number-two"].filter(signedWith);
    },
    ["secret-number-one", ["secret-number-one"]],
    ["secret-number-two", ["secret-number-two"]],
  ),
  "webhook.allowInternal": effect(
    async (allowInternal) =>
      seenByWebhook({ allowInternal }).then(
        ({ path }) => path,
        () => "refused",
      ),
    [true, "/hook"],
    [false, "refused"],
  ),
  "budget.personaTokens": effect(
    (personaTokens) => statusWith({ personaTokens }),
    [10_000, "parked"],
    [100_000, "completed"],
  ),
  "budget.dayTokens": effect(
    (dayTokens) => statusWith({ dayTokens }),
    [10_000, "parked"],
    [100_000, "completed"],
  ),
  "budget.dayUsd": effect((dayUsd) => statusWith({ dayUsd }), [0.01, "parked"], [1, "completed"]),
  "budget.unpriced": effect(
    (unpriced) => statusWith({ dayUsd: 1, unpriced }, "unknown-1"),
    ["refuse", "parked"],
    ["allow", "completed"],
  ),
  prices: effect<PriceTable>(
    async (prices) => {
      const { maestro, result } = await runWith({ prices }, asking("unknown-1"));
      return (await maestro.show(result.id)).usage.costUsd;
    },
    [{ "openai/unknown-1": { input: 10, output: 0 } }, 0.18],
    [{ "openai/unknown-1": { input: 20, output: 0 } }, 0.36],
  ),
  sandboxRequired: effect(checkedWith, [true, "parked"], [false, "completed"]),
  leaseMs: effect(takenOverWith, [1_000, true], [600_000, false]),
  simulatedScript: effect(
    async (summary) => summaryWith(scriptSaying(summary)),
    ["said by one", "(simulated) said by one"],
    ["said by two", "(simulated) said by two"],
  ),
  "server.host": effect(
    (host) => answersAt({ host }),
    ["127.0.0.1", "200 from 127.0.0.1"],
    ["127.0.0.2", "200 from 127.0.0.2"],
  ),
  "server.port": effect(
    (port) => answersAt({ port }),
    [onePort, `200 from 127.0.0.1:${onePort}`],
    [anotherPort, `200 from 127.0.0.1:${anotherPort}`],
  ),
  "server.apiToken": effect(
    (apiToken) => statusOf({ apiToken }, { token: "token-of-one" }),
    ["token-of-one", 200],
    ["token-of-two", 401],
  ),
  "server.places": effect(placesWith, [1, 1], [2, 2]),
  "server.allowedHosts": effect(
    (allowedHosts) => statusOf({ allowedHosts }, { url: "http://one.example.org:4160" }),
    ["one.example.org", 200],
    ["two.example.org", 403],
  ),
};
