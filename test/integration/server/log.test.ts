import { expect, onTestFinished, test, vi } from "vitest";
import { createLog } from "../../../src/api/log/log.ts";
import { systemClock } from "../../../src/domain/clock.ts";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { calls } from "../../support/model-hive.ts";
import { PaidModels } from "../../support/paid-models.ts";
import { start, startServer, token, until } from "./support.ts";
import { failingTeam, quickRetries, reviewTeam } from "./teams.ts";

/** In every text of people and models, and in an error. */
const canary = "canary4c1d8e";
const secret = "a-secret-of-the-environment-9f31";

const modelTeam = defineTeam("asking", {
  model: "openai-compatible/llama",
  phases: [
    phase("work", {
      personas: [
        persona("dev", { instructions: `Look around, ${canary}.`, tools: ["ask_person", "write_file"] }),
      ],
    }),
  ],
});

interface Line {
  readonly level: string;
  readonly message: string;
  readonly session?: string;
  readonly persona?: string;
  readonly request?: string;
  readonly kind?: string;
}

async function loggedServer() {
  const lines: string[] = [];
  const log = createLog({
    format: "json",
    level: "debug",
    clock: systemClock,
    write: (line) => lines.push(line),
  });
  const teams = [modelTeam, reviewTeam, failingTeam];
  const server = await startServer({ teams, log, config: { server: { apiToken: token }, ...quickRetries } });
  server.drive();
  return { server, text: () => lines.join(""), lines: () => lines.map((line) => JSON.parse(line) as Line) };
}

test("a log tells what happened where, and has no secret, no prompt and no text of people or models", async () => {
  const script = [
    calls("ask_person", { question: `Where is ${canary}?` }),
    calls("write_file", { path: "a.txt", content: canary }),
    calls(`no_such_tool_${canary}`, {}),
    calls("submit", { summary: `found ${canary} and ${secret}` }),
  ];
  const models = await PaidModels.start(({ answersBefore }) => script[answersBefore] ?? {});
  for (const [name, value] of Object.entries(models.server.env)) vi.stubEnv(name, value);
  vi.stubEnv("SOME_API_KEY", secret);
  onTestFinished(async () => {
    await models.close();
    vi.unstubAllEnvs();
  });
  const { server, text, lines } = await loggedServer();
  const brief = `Do it with ${canary} and ${secret}`;

  const asking = (await start(server, { team: "asking", brief })).id;
  const { waiting } = await until(server, asking, "parked");
  await server.post(`/v1/sessions/${asking}/calls/${waiting[0]?.seq}/answer`, {
    text: `in ${canary}`,
    resume: true,
  });
  await until(server, asking, "completed");
  const failing = (await start(server, { team: "failing", brief })).id;
  await until(server, failing, "parked");
  const review = (await start(server, { team: "review", brief })).id;
  await until(server, review, "parked");
  await server.post(`/v1/sessions/${review}/approve`, { note: canary, resume: true });
  await until(server, review, "completed");
  await server.post("/v1/sessions", { team: canary, brief });
  await server.request("/v1/status", { headers: { authorization: `Bearer wrong-${secret}` } });
  await server.request(`/login?code=${secret}`);

  expect(lines()).toEqual(
    expect.arrayContaining([
      expect.objectContaining({ level: "info", session: asking, message: "started, lease epoch 1" }),
      expect.objectContaining({ session: asking, persona: "dev", message: "asks a person" }),
      expect.objectContaining({ session: asking, message: "a question was answered by a person" }),
      expect.objectContaining({
        level: "warn",
        session: failing,
        message: "parked for help; raises a ticket",
      }),
      expect.objectContaining({ level: "warn", session: review, message: "parked for review" }),
      expect.objectContaining({ level: "info", session: review, message: "completed" }),
      expect.objectContaining({
        level: "info",
        session: review,
        message: `POST /v1/sessions/${review}/approve 202`,
        request: expect.stringMatching(/^\w{20,}$/),
      }),
      expect.objectContaining({ level: "warn", message: "POST /v1/sessions 400" }),
      expect.objectContaining({ level: "warn", message: "GET /v1/status 401" }),
      expect.objectContaining({ level: "warn", message: "GET /login 401" }),
    ]),
  );
  expect(text()).not.toContain(canary);
  expect(text()).not.toContain(secret);
  expect(text()).not.toContain(token);
  expect(models.server.requests.map((request) => request.text).join(), "the model saw it").toContain(canary);
});
