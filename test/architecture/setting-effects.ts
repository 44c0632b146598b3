import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { onTestFinished, vi } from "vitest";
import type { ConfigOverrides, SettingKey, SettingValue } from "../../src/config/config.ts";
import type { PriceTable } from "../../src/cost/price-per-million.ts";
import {
  defineTeam,
  durableModel,
  LeaseHeld,
  loadTeam,
  type PersonaContext,
  persona,
  phase,
} from "../../src/index.ts";
import type { ModelServer } from "../../src/personas/model/model-sources.ts";
import type { ProviderRates } from "../../src/store/decisions/rates.ts";
import type { SandboxRule } from "../../src/workspace/sandbox.ts";
import { answer, ownModel } from "../integration/run/own-models.ts";
import { LoopbackServer } from "../support/loopback-server.ts";
import { PaidModels } from "../support/paid-models.ts";
import {
  done,
  newFolder,
  ok,
  openWith,
  runWith,
  serveFile,
  serveWith,
  teamOf,
  waitsWith,
} from "./setting-place.ts";
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

/** Why a model of this name cannot be used. */
async function refusalOf(model: string, overrides: ConfigOverrides): Promise<string> {
  const { maestro } = await openWith(overrides);
  const asked = persona("asked", { instructions: "Answer." });
  const team = defineTeam("asking", { phases: [phase("only", { personas: [asked] })] });
  const { error } = await (await maestro.start(team, { brief: "Anything.", model })).result();
  return error?.message ?? "";
}

/** A package in this folder, of this version, that is not a provider. */
async function wrongPackage(folder: string): Promise<string> {
  const place = join(folder, "node_modules", "@ai-sdk", "groq");
  mkdirSync(place, { recursive: true });
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const version = folder.slice(-1);
  writeFileSync(join(place, "package.json"), JSON.stringify({ name: "@ai-sdk/groq", version, main: "i.js" }));
  writeFileSync(join(place, "i.js"), "module.exports = {};");
  vi.stubEnv("GROQ_API_KEY", "key-for-tests");
  const message = await refusalOf("groq/llama", { providersFrom: folder });
  return /@ai-sdk\/groq \S+/.exec(message)?.[0] ?? message;
}

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
    .prepare("INSERT INTO owners VALUES ('far', 'machine', 'boot', 'ns', 1, '1', 1, 0, ?)")
    .run(Date.now() - 60_000);
  database.exec("INSERT OR REPLACE INTO leases SELECT number, 9, 'far' FROM sessions");
  database.close();
  return (await maestro.resume(id)).result().then(
    ({ status }) => status === "completed",
    (error: unknown) => !LeaseHeld.is(error),
  );
}

/** Whether a check sees the folder that only a sandbox has. */
async function checkedWith(sandbox: SandboxRule): Promise<string> {
  const { maestro } = await openWith({ sandbox });
  const session = await maestro.start(checkedTeam(["test", "-d", "/workspace"]), { brief: "b" });
  return (await session.result()).status;
}

const checkedTeam = (run: readonly string[]) =>
  simulatedTeam({ contract: { checks: [{ name: "check", run }] } });

/** Whether a check that uses this much passes. One that is to be ended stays until it is. */
async function passesWith(
  commands: NonNullable<ConfigOverrides["commands"]>,
  script: string,
  isEnough: boolean,
): Promise<boolean> {
  const { maestro } = await openWith({ commands, sandbox: "none" });
  const waits = `${script}; setTimeout(() => {}, ${isEnough ? 2_000 : 60_000})`;
  const session = await maestro.start(checkedTeam(["node", "-e", waits]), { brief: "b" });
  return (await session.result()).status === "completed";
}

/** Whether a check in the sandbox sees this limit. */
async function processesWith(processes: number): Promise<boolean> {
  const { maestro } = await openWith({ commands: { processes } });
  const isLimited = `test "$(ulimit -u)" = 333`;
  const session = await maestro.start(checkedTeam(["bash", "-c", isLimited]), { brief: "b" });
  return (await session.result()).status === "completed";
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

/** How a session of a function that needs 200 MiB ends. */
async function endWith(functionMemoryMb: number): Promise<string | undefined> {
  const file = join(import.meta.dirname, "../fixtures/teams/hungry.ts");
  const { team } = await loadTeam(file);
  const { server } = await serveFile(file, team, { server: { functionMemoryMb, port: 4160 } });
  const started = await server.app.request("http://127.0.0.1:4160/v1/sessions", {
    method: "POST",
    headers: { authorization: `Bearer ${server.token}`, "content-type": "application/json" },
    body: JSON.stringify({ team: team.name, brief: "b" }),
  });
  const { id } = (await started.json()) as { readonly id: string };
  server.drive();
  const ended = async () => {
    const { status, phases } = await server.maestro.show(id);
    if (status === "completed") return status;
    return status === "parked" && phases[0]?.personas[0]?.attempts[0]?.failure?.category;
  };
  return vi.waitUntil(ended, { timeout: 60_000 });
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

const pem = (name: string): string => join(import.meta.dirname, `../fixtures/tls/${name}.pem`);

async function protocolWith(settings: NonNullable<ConfigOverrides["server"]>): Promise<string> {
  try {
    const { server } = await serveWith({ server: { port: 0, ...settings } });
    return new URL((await server.listen()).url).protocol;
  } catch {
    return "refused";
  }
}

async function answersAt(settings: NonNullable<ConfigOverrides["server"]>): Promise<string> {
  const { server } = await serveWith({ server: { port: 0, ...settings } });
  const { host, port } = await server.listen();
  const { status } = await fetch(`http://${host}:${port}/healthz`);
  return `${status} from ${host}${settings.port === undefined ? "" : `:${port}`}`;
}

type Named = Readonly<Record<string, number>>;

/** How many of three queued sessions a scheduler takes in one round. */
async function takenWith(limits: NonNullable<ConfigOverrides["limits"]>): Promise<number> {
  const { maestro } = await openWith({ limits, model: "simulated" });
  const team = teamOf(async () => done);
  for (let number = 0; number < 3; number += 1) await maestro.queue(team, { brief: "b", queue: "night" });
  await maestro.scheduler({ places: 3, report: () => {} }).tick();
  return (await maestro.sessions({ statuses: ["completed"] })).length;
}

/** Whether the second of two calls has to wait for the minute of its provider. */
async function reachesMinute(providers: ProviderRates): Promise<boolean> {
  const { maestro, events } = await openWith({ limits: { providers }, model: "simulated" });
  const asked = persona("asked", { instructions: "Answer." });
  const team = defineTeam("asking", { phases: [phase("only", { personas: [asked] })] });
  await (await maestro.start(team, { brief: "One." })).result();
  const next = await maestro.start(team, { brief: "Two." });
  const waits = () => events.some(({ kind }) => kind === "dependency.waiting");
  // Ended by the end of the test where it waits.
  const ends = next.result().catch(() => undefined);
  await Promise.race([ends, vi.waitUntil(waits, { timeout: 60_000 })]);
  return waits();
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
  servers: effect<Readonly<Record<string, ModelServer>>>(
    async (servers) => /\w+ is not set/.exec(await refusalOf("vllm/llama", { servers }))?.[0],
    [{ vllm: { baseUrl: "http://127.0.0.1:9/v1", keyVariable: "NO_KEY_A" } }, "NO_KEY_A is not set"],
    [{ vllm: { baseUrl: "http://127.0.0.1:9/v1", keyVariable: "NO_KEY_B" } }, "NO_KEY_B is not set"],
  ),
  providersFrom: effect(
    wrongPackage,
    [join(tmpdir(), "maestro-providers-1"), "@ai-sdk/groq 1"],
    [join(tmpdir(), "maestro-providers-2"), "@ai-sdk/groq 2"],
  ),
  "commands.processes": effect(processesWith, [333, true], [334, false]),
  sandbox: effect(checkedWith, ["required", "completed"], ["none", "parked"]),
  "commands.memoryMiB": effect(
    (memoryMiB) =>
      passesWith({ memoryMiB }, "globalThis.kept = Buffer.alloc(400 * 2 ** 20, 1)", memoryMiB > 400),
    [200, false],
    [4_000, true],
  ),
  "commands.diskMiB": effect(
    (diskMiB) =>
      passesWith({ diskMiB }, "fs.writeFileSync('f', Buffer.alloc(64 * 2 ** 20, 1))", diskMiB > 64),
    [16, false],
    [1_000, true],
  ),
  leaseMs: effect(takenOverWith, [1_000, true], [600_000, false]),
  "limits.teams": effect<Named>((teams) => takenWith({ teams }), [{ only: 1 }, 1], [{ only: 2 }, 2]),
  "limits.models": effect<Named>((models) => takenWith({ models }), [{ simulated: 1 }, 1], [{ other: 1 }, 3]),
  "limits.queues": effect<Named>((queues) => takenWith({ queues }), [{ night: 0 }, 0], [{ night: 2 }, 2]),
  "limits.providers": effect<ProviderRates>(
    reachesMinute,
    [{ simulated: { requestsPerMinute: 1 } }, true],
    [{ simulated: { requestsPerMinute: 2 } }, false],
  ),
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
  "server.functionMemoryMb": effect(endWith, [128, "RESOURCE"], [1_024, "completed"]),
  "server.publicUrl": effect(
    (publicUrl) => statusOf({ publicUrl }, { url: "http://one.example.org" }),
    ["http://one.example.org", 200],
    ["http://two.example.org", 403],
  ),
  "server.tlsCert": effect(
    (tlsCert) => protocolWith({ tlsCert, tlsKey: pem("one.key") }),
    [pem("one.cert"), "https:"],
    [pem("two.cert"), "refused"],
  ),
  "server.tlsKey": effect(
    (tlsKey) => protocolWith({ tlsCert: pem("one.cert"), tlsKey }),
    [pem("one.key"), "https:"],
    [pem("two.key"), "refused"],
  ),
};
