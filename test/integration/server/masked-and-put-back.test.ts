import { afterEach, expect, test, vi } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { sessionView } from "../../../src/server/schemas/session.ts";
import { start, startServer, teamOf, until } from "./support.ts";

afterEach(() => void vi.unstubAllEnvs());

test("a secret that a step returns is in no answer of the server", async () => {
  const secret = "tr0ub4dor-over-http-3";
  vi.stubEnv("SSHPASS", secret);
  const server = await startServer({
    teams: [
      teamOf("secretive", async ({ step, log }) => {
        await step("open", () => ({ message: `opened with ${secret}`, output: secret }));
        log(`knows ${secret}`);
        return { summary: `opened with ${secret}` };
      }),
    ],
  });
  server.drive();
  const { id } = await start(server, { team: "secretive" });
  await until(server, id, "completed");
  const persona = `/v1/sessions/${id}/phases/only/personas/worker`;
  const answers = [`/v1/sessions/${id}`, persona, `${persona}/steps`, `/v1/sessions/${id}/journal`].map(
    async (path) => (await server.request(path)).text(),
  );
  const text = (await Promise.all(answers)).join("\n");
  expect(text).not.toContain(secret);
  expect(text).toContain("opened with [redacted]");
});

test("a review and its attempts name the protected files that were put back, and why", async () => {
  const first = persona("first", {
    contract: { deliverables: ["docs/plan.md"] },
    run: async ({ workspace }) => {
      await workspace.write("docs/plan.md", "the plan");
      return { summary: "planned" };
    },
  });
  const second = persona("second", {
    run: async ({ workspace }) => {
      await workspace.write("docs/plan.md", "another plan");
      return { summary: "done" };
    },
  });
  const team = defineTeam("guarded", {
    phases: [phase("plan", { personas: [first] }), phase("work", { review: true, personas: [second] })],
  });
  const server = await startServer({ teams: [team] });
  server.drive();
  const { id } = await start(server, { team: "guarded" });
  const view = await until(server, id, "parked");
  expect(sessionView.safeParse(view).error?.issues ?? []).toEqual([]);
  const change = { path: "docs/plan.md", why: "first delivers it in phase plan" };
  expect(view.review?.putBack).toEqual([{ persona: "second", ...change }]);
  expect(view.phases[1]).toMatchObject({
    putBack: [{ persona: "second", ...change }],
    personas: [{ attempts: [{ putBack: { files: [change], more: 0 } }] }],
  });
  expect(view.explanation.why).toContain("Protected files that second changed were put back: docs/plan.md.");
});
