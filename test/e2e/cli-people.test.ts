import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { defineTeam, open, persona, phase } from "../../src/index.ts";
import { json, maestro, place } from "./support/packed.ts";
import { saidSchema, showSchema } from "./support/schemas.ts";

const team = join(import.meta.dirname, "support/asking-team.ts");

interface Shown {
  readonly waiting: readonly { readonly seq: number; readonly kind: string; readonly call: unknown }[];
  readonly phases: readonly { readonly personas: readonly { readonly summary: string }[] }[];
}

test("calls wait for a person at the terminal: approve, change or reject them, answer a question, and resume", async () => {
  const at = place();
  const side = join(at.folder, "side");
  const sent = () => (existsSync(side) ? readFileSync(side, "utf8").split("\n").slice(0, -1) : []);
  const waiting = async () => {
    const shown = showSchema.parse(await json(at, "show", "k")) as unknown as Shown;
    expect(shown.waiting).toHaveLength(1);
    return shown.waiting[0] as Shown["waiting"][number];
  };
  const parked = await maestro(at, "run", side, "--team", team, "--key", "k");
  expect(parked.code, parked.stderr).toBe(4);
  const first = await waiting();
  expect(first).toMatchObject({ kind: "call", call: { tool: "send", arguments: { side, to: "Ann" } } });
  expect(parked.stderr).toContain(`Call ${first.seq} of writer waits for approval: send:`);
  expect(parked.stderr).toContain(`maestro approve k --call ${first.seq}`);
  expect((await maestro(at, "resume", "k")).code, "without an answer").toBe(4);
  expect(sent()).toEqual([]);

  const call = ["--call", String(first.seq)];
  expect((await maestro(at, "approve", "k", "--call", "x")).code).toBe(2);
  expect((await maestro(at, "approve", "k", ...call, "--arguments", "{")).code).toBe(2);
  expect((await maestro(at, "approve", "k", ...call, "--arguments", "[]")).code).toBe(2);
  expect((await maestro(at, "approve", "k", "--call", "999")).code).toBe(2);
  expect((await maestro(at, "reject", "k", ...call)).code).toBe(2);
  expect((await maestro(at, "answer", "k", String(first.seq), "yes")).code).toBe(2);
  const edited = JSON.stringify({ side, to: "Cleo" });
  const said = await maestro(at, "approve", "k", ...call, "--arguments", edited, "--json");
  expect(said.code, said.stderr).toBe(0);
  expect(saidSchema.parse(JSON.parse(said.stdout))).toMatchObject({ status: "paused" });
  expect((await maestro(at, "resume", "k")).code).toBe(4);
  expect(sent()).toEqual(["Cleo"]);

  const second = await waiting();
  const rejected = await maestro(at, "reject", "k", "--call", String(second.seq), "--note", "not him");
  expect(rejected.code, rejected.stderr).toBe(0);
  expect((await maestro(at, "resume", "k")).code).toBe(4);

  const question = await waiting();
  expect(question).toMatchObject({ kind: "question", call: { tool: "ask_person" } });
  const off = await maestro(at, "answer", "k", String(question.seq), "green");
  expect(off.code).toBe(2);
  expect(off.stderr).toContain("Choices: red, blue.");
  const answered = await maestro(at, "answer", "k", String(question.seq), "blue", "--json");
  expect(answered.code, answered.stderr).toBe(0);
  expect(saidSchema.parse(JSON.parse(answered.stdout))).toMatchObject({ status: "paused" });
  const end = await maestro(at, "resume", "k");
  expect(end.code, end.stderr).toBe(0);
  const done = (await json(at, "show", "k")) as Shown;
  expect(done.phases[0]?.personas[0]?.summary).toContain("A person did not allow this call: not him; blue");
  expect(sent()).toEqual(["Cleo"]);
});

test("a decision about a session that a program defines names the program, and no command that cannot work", async () => {
  const at = place();
  const team = defineTeam("coded", {
    phases: [
      phase("work", { review: true, personas: [persona("dev", { run: async () => ({ summary: "s" }) })] }),
    ],
  });
  const hive = await open({ stateDir: join(at.folder, "state") });
  await (await hive.start(team, { brief: "b", key: "k" })).result();
  await hive.close();
  const approved = await maestro(at, "approve", "k");
  expect(approved.code, approved.stderr).toBe(0);
  expect(approved.stderr).toContain("Start the program that defines its team again");
  expect(approved.stderr).not.toContain("maestro resume");
});

test("the beginning of an id that is too short says how many characters it needs", async () => {
  const at = place();
  const hive = await open({ stateDir: join(at.folder, "state") });
  const team = defineTeam("t", {
    phases: [phase("p", { personas: [persona("dev", { run: async () => ({ summary: "s" }) })] })],
  });
  const { id } = await hive.start(team, { brief: "b" });
  await hive.close();
  expect((await maestro(at, "show", id.slice(0, 3))).stderr).toContain("needs at least 4 characters");
  expect((await maestro(at, "show", id.slice(0, 4))).code).toBe(0);
});

test("show joins the title of a decision and its reason with one colon, however the title ends", async () => {
  const at = place();
  const decision = {
    title: "Where is it from?: The content of the URL.",
    choice: "c",
    reason: "The same URL",
    rejected: [],
  };
  const dev = persona("dev", { run: async () => ({ summary: "s", decisions: [decision] }) });
  const hive = await open({ stateDir: join(at.folder, "state") });
  await (
    await hive.start(defineTeam("t", { phases: [phase("p", { personas: [dev] })] }), { brief: "b", key: "k" })
  ).result();
  await hive.close();
  const { stdout } = await maestro(at, "show", "k");
  expect(stdout).toContain("The content of the URL: The same URL");
});
