import { expect, test } from "vitest";
import type { PlanView } from "../../../src/server/schemas/actions.ts";
import type { SessionPageView } from "../../../src/server/schemas/session.ts";
import { problemOf, start, startServer, until } from "./support.ts";
import { payingTeam } from "./teams.ts";

test("an effect of unknown outcome is shown, settled over HTTP and resumed, and a fork repeats it only when asked to", async () => {
  const { team, happened } = payingTeam();
  const server = await startServer({ teams: [team] });
  server.drive();
  const { id } = await start(server, { team: "paying" });
  const parked = await until(server, id, "parked");
  const [effect] = parked.effects;
  const seq = effect?.seq ?? 0;
  expect(parked).toMatchObject({
    reason: "unknown",
    headline: 'The outcome of "pay" is unknown',
    situation: { kind: "unknown", persona: "payer", effect: "pay", seq },
    waiting: [{ seq, kind: "effect", persona: "payer" }],
    explanation: { todo: [{ command: ["maestro", "settle", id, String(seq), "--happened", "null"] }, {}] },
  });
  const path = `/v1/sessions/${id}/steps/${seq}/settle`;
  const wrong = await server.post(path, {});
  expect(wrong.status).toBe(400);
  const elsewhere = await server.post(`/v1/sessions/${id}/steps/1/settle`, { happened: true });
  expect((await problemOf(elsewhere)).code).toBe("SESSION_CONFLICT");
  const settled = await server.post(path, { happened: true, result: "receipt 7", resume: true });
  expect(settled.status).toBe(202);
  const done = await until(server, id, "completed");
  expect(done.phases[0]?.personas[0]?.summary).toBe("receipt 7");
  expect(done.effects).toMatchObject([{ seq, state: "happened" }]);
  expect(happened).toEqual(["pay"]);

  const fresh = { at: "work", fresh: true };
  const plan = (await (
    await server.post(`/v1/sessions/${id}/fork`, { ...fresh, dryRun: true })
  ).json()) as PlanView;
  expect(plan.effects).toMatchObject([{ seq, name: "pay", phase: "work", persona: "payer" }]);
  const refused = await server.post(`/v1/sessions/${id}/fork`, fresh);
  expect(await problemOf(refused)).toMatchObject({ code: "SESSION_CONFLICT" });
  const forked = await server.post(`/v1/sessions/${id}/fork`, { ...fresh, repeatEffects: true });
  expect(forked.status).toBe(201);
  await until(server, ((await forked.json()) as SessionPageView).id, "completed");
  expect(happened).toEqual(["pay", "pay"]);
});
