import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test, vi } from "vitest";
import type { BreakerRecord } from "../../../src/domain/breaker.ts";
import {
  BudgetExceeded,
  defineTeam,
  HelpNeeded,
  type PersonaOptions,
  persona,
  phase,
} from "../../../src/index.ts";
import { ticketForDependency } from "../../../src/run/help.ts";
import { renderMarkdown } from "../../../src/tickets/render.ts";
import { TeamPlace } from "./place.ts";

const fails = (words: string) => () => {
  throw new Error(words);
};

function team(works: Readonly<Record<string, PersonaOptions["run"]>>) {
  const personas = Object.entries(works).map(([name, run]) => persona(name, { run } as PersonaOptions));
  return defineTeam("team", { phases: [phase("work", { personas })] });
}

const textOf = (url: string | null | undefined): string => readFileSync(fileURLToPath(String(url)), "utf8");

test("each session that the same problem stops raises its own ticket with its resume command", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const stuck = team({ worker: fails("the answer is wrong") });
  const results = [];
  for (const brief of ["one", "two"]) results.push(await (await maestro.start(stuck, { brief })).result());
  const [first, second] = results;
  expect(first?.ticket?.url).not.toBe(second?.ticket?.url);
  for (const result of results) {
    const text = textOf(result.ticket?.url);
    expect(text).toContain(result.id);
    // Personas of this team are code, which no command can resume.
    expect(text).toContain("Start the program that defines its team again");
    expect(text).not.toContain("maestro resume");
    expect(text).toContain("Nothing is running or spending. Cost: no model was called.");
  }
  const [one, two] = (await maestro.ticketRecords()).map(({ ticket }) => ticket.problem);
  expect(one).toBe(two);
});

test("the same problem again in the same session keeps the existing ticket", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(team({ worker: fails("the answer is wrong") }), { brief: "x" });
  const first = await session.result();
  const again = await (await maestro.resume(session.id)).result();
  expect(again.ticket).toEqual(first.ticket);
  expect(readdirSync(join(place.stateDir, "tickets"))).toHaveLength(1);
});

test("two personas that need help get a ticket each, committed with the parking", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(team({ a: fails("a is stuck"), b: fails("b is stuck") }), {
    brief: "x",
  });
  const result = await session.result();
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(result.error?.message).toMatch(/2 personas need help.*a is stuck.*b is stuck/);
  expect(result.tickets.map(({ summary }) => summary)).toEqual([
    "a needs help in work of team: a is stuck",
    "b needs help in work of team: b is stuck",
  ]);
  for (const { url } of result.tickets) expect(textOf(url)).toContain(session.id);
  expect((await maestro.show(session.id)).tickets).toEqual(result.tickets);
  expect(result.error?.details).toMatchObject({
    needs: result.tickets.map(({ fingerprint }) => ({ details: { ticket: fingerprint } })),
  });
});

test("a need for help outranks a used-up budget of another persona", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const works = {
    a: () => {
      throw new BudgetExceeded("there is nothing left");
    },
    b: fails("b is stuck"),
  };
  const result = await (await maestro.start(team(works), { brief: "x" })).result();
  expect(result).toMatchObject({ status: "parked", reason: "help", ticket: { status: "delivered" } });
  expect(result.error?.message).toContain("b is stuck");
});

test("the error has the fingerprint of its ticket", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const session = await maestro.start(team({ worker: fails("stuck") }), { brief: "x" });
  const { error, ticket } = await session.result();
  expect(error?.details).toMatchObject({ ticket: ticket?.fingerprint });
  expect((await maestro.show(session.id)).error?.details).toMatchObject({ ticket: ticket?.fingerprint });
});

test("a persona that asks for help itself is named in the ticket, with its own message and advice", async () => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const asks = () => {
    throw new HelpNeeded("Which of the two designs?", { advice: "Choose one in docs/choice.md." });
  };
  const session = await maestro.start(team({ designer: asks }), { brief: "x" });
  const { error, ticket } = await session.result();
  expect(ticket?.summary).toBe("designer needs help in work of team: Which of the two designs?");
  expect(error).toMatchObject({
    message: "Which of the two designs?",
    details: { phase: "work", persona: "designer", attempts: 1 },
  });
  const text = textOf(ticket?.url);
  expect(text).toContain("## Why did it stop?\n\n```text\nWhich of the two designs?\n```");
  expect(text).toContain("1. Choose one in docs/choice.md.");
});

test("a dependency's ticket is about the dependency: one per outage", () => {
  const record = (openedAt: number, failedProbes = 3): BreakerRecord => ({
    state: { kind: "open", openedAt, probeAt: openedAt + 300_000, failedProbes },
    notBefore: null,
  });
  const raise = (given: BreakerRecord) =>
    ticketForDependency("api.example.org", given, {
      now: 2_000_000,
      waiting: ["s1", "s2"],
      commandFor: (...words) => ["maestro", ...words].join(" "),
    });
  const ticket = raise(record(1_000_000));
  expect(raise(record(1_000_000, 4)).fingerprint).toBe(ticket.fingerprint);
  expect(raise(record(9_000_000)).fingerprint).not.toBe(ticket.fingerprint);
  expect(ticket.summary).toBe(
    "Sessions wait for a service: api.example.org does not answer: its breaker is open and its probes fail",
  );
  const text = renderMarkdown(ticket);
  expect(text).toContain("api.example.org has not answered since 1970-01-01T00:16:40.000Z: 3 probes");
  expect(text).toContain("the next one not before 1970-01-01T00:21:40.000Z");
  expect(text).toContain("maestro breakers reset api.example.org");
  expect(text).toContain("parked until a service answers: 2: s1 s2");
  expect(text).not.toMatch(/of team -|: -$|needs help in -/m);
});

test("a secret of this process without a known form is in no ticket", async () => {
  vi.stubEnv("OPENAI_COMPATIBLE_API_KEY", "a-key-that-looks-like-words");
  onTestFinished(() => void vi.unstubAllEnvs());
  const place = new TeamPlace();
  const maestro = await place.open();
  const stuck = team({ worker: fails("refused: a-key-that-looks-like-words is not valid") });
  const { ticket } = await (await maestro.start(stuck, { brief: "x" })).result();
  expect(`${ticket?.summary} ${textOf(ticket?.url)}`).not.toContain("looks-like-words");
});

test("an orchestrator that requests a phase again gets no attempts: only a person's resume grants them", async () => {
  const place = new TeamPlace();
  let isMended = false;
  const branches = defineTeam("branches", {
    phases: [
      phase("a", {
        dependsOn: [],
        personas: [
          persona("stuck", {
            run: place.work("stuck", () => {
              if (!isMended) throw new Error("the answer is wrong");
            }),
          }),
        ],
      }),
      phase("b", { dependsOn: [], personas: [persona("other", { run: place.work("other") })] }),
    ],
  });
  const first = await place.open();
  const { id } = await first.create(branches, { brief: "x" });
  const parked = await first.executePhase(id, "a");
  expect(parked).toMatchObject({ status: "parked", reason: "help" });
  expect(place.ran.splice(0)).toHaveLength(6);
  isMended = true;
  for (const _ of [1, 2])
    expect(await first.executePhase(id, "a")).toMatchObject({
      status: "parked",
      reason: "help",
      ticket: parked.ticket,
    });
  await first.executePhase(id, "b");
  await first.close();
  const maestro = await place.open({ teams: [branches] });
  expect(await maestro.executePhase(id, "a")).toMatchObject({ status: "parked", reason: "help" });
  expect(place.ran).toEqual(["other"]);
  expect(await (await maestro.resume(id)).result()).toMatchObject({ status: "completed" });
  expect(place.ran).toEqual(["other", "stuck"]);
});

test.each<[string, Record<string, unknown>]>([
  ["failures", { failures: ["login"] }],
  ["needs", { needs: [{}] }],
  ["nothing needed", { needs: [] }],
  ["actions that are no words", { suggestedActions: [{}, "Choose one."] }],
  ["a category of its own", { category: 5, attempts: "many" }],
])("a persona that asks for help with its own details (%s) is parked with a ticket", async (_, details) => {
  const place = new TeamPlace();
  const maestro = await place.open();
  const asking = team({
    worker: () => {
      throw new HelpNeeded("Which of the two?", { details });
    },
  });
  const result = await (await maestro.start(asking, { brief: "x" })).result();
  expect(result).toMatchObject({ status: "parked", reason: "help" });
  expect(textOf(result.ticket?.url)).toContain("Which of the two?");
});
