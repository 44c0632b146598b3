import { expect, test } from "vitest";
import { problemOf, start, startServer, until } from "./support.ts";
import { writingTeam } from "./teams.ts";

test("calls and questions are shown, approved, rejected and answered over HTTP, and the session resumes", async () => {
  const { team, sent } = writingTeam();
  const server = await startServer({ teams: [team] });
  server.drive();
  const { id } = await start(server, { team: "writing" });
  const parked = await until(server, id, "parked");
  const seq = parked.waiting[0]?.seq ?? 0;
  expect(parked).toMatchObject({
    reason: "review",
    headline: 'writer waits for approval of send: {"to":"Ann"}',
    situation: { kind: "review", phase: "work", calls: [{ seq, kind: "call", persona: "writer" }] },
    waiting: [{ seq, kind: "call", persona: "writer", call: { tool: "send", arguments: { to: "Ann" } } }],
    explanation: {
      why: `Call ${seq} of writer waits for approval: send: {"to":"Ann"}.`,
      todo: [
        { command: ["maestro", "approve", id, "--call", String(seq)] },
        { command: ["maestro", "reject", id, "--call", String(seq), "--note", "<what to change>"] },
      ],
    },
  });
  const of = (call: number, word: string) => `/v1/sessions/${id}/calls/${call}/${word}`;
  const wrong: readonly (readonly [string, object, string])[] = [
    [of(seq, "reject"), {}, "INPUT_INVALID"],
    [of(seq, "reject"), { note: "<what to change>" }, "INPUT_INVALID"],
    [of(seq, "approve"), { arguments: [] }, "INPUT_INVALID"],
    [of(seq, "answer"), { text: "red" }, "INPUT_INVALID"],
    [of(seq + 100, "approve"), {}, "SESSION_CONFLICT"],
  ];
  for (const [path, body, code] of wrong)
    expect((await problemOf(await server.post(path, body))).code, path).toBe(code);

  const approved = await server.post(of(seq, "approve"), { arguments: { to: "Cleo" }, resume: true });
  expect(approved.status).toBe(202);
  const next = await until(server, id, "parked");
  expect(sent).toEqual([{ to: "Cleo" }]);
  const second = next.waiting[0]?.seq ?? 0;
  expect(second).toBeGreaterThan(seq);
  const rejected = await server.post(of(second, "reject"), { note: "one is enough", resume: true });
  expect(rejected.status).toBe(202);
  const asked = await until(server, id, "parked");
  const question = asked.waiting[0]?.seq ?? 0;
  expect(asked).toMatchObject({
    headline: "writer asks: Which color?",
    waiting: [{ kind: "question", call: { arguments: { choices: ["red", "blue"] } } }],
  });
  const off = await problemOf(await server.post(of(question, "answer"), { text: "rad" }));
  expect(off.detail).toContain('Did you mean "red"');
  expect((await server.post(of(question, "answer"), { text: "blue", resume: true })).status).toBe(202);
  const done = await until(server, id, "completed");
  expect(done.phases[0]?.personas[0]?.summary).toBe(
    'A person changed the arguments of this call to {"to":"Cleo"}.\nsent; A person did not allow this call: one is enough; blue',
  );
  expect(sent).toHaveLength(1);
});
