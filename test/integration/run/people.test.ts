import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test, vi } from "vitest";
import {
  defineTeam,
  type Maestro,
  type PersonaContext,
  type PersonaOptions,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { readRecorded, rowsOf } from "../../crash/support/recorded.ts";
import { TeamPlace } from "./place.ts";

const sandbox = await describeSandbox();
const key = "k";
const review = { status: "parked", reason: "review" };
const schema = { type: "object", properties: { to: { type: "string" } }, additionalProperties: false };

/** A tool that notes with what it was called. */
function sending(sent: unknown[], more: object = {}) {
  return {
    description: "Sends a letter.",
    inputSchema: schema,
    execute: (args: unknown) => {
      sent.push(args);
      return `sent letter ${sent.length}`;
    },
    ...more,
  };
}

const only = (options: PersonaOptions, more: readonly ReturnType<typeof persona>[] = []): Team =>
  defineTeam("people", { phases: [phase("work", { personas: [persona("dev", options), ...more] })] });

/** A function persona whose tool `send` waits for approval. */
const asking = (
  sent: unknown[],
  run: (send: (args: object) => Promise<string>, ctx: PersonaContext) => Promise<unknown>,
  more: { tool?: object; timeoutMs?: number } = {},
): PersonaOptions => ({
  tools: { send: sending(sent, more.tool) as never, ask_person: true },
  approve: ["send"],
  ...(more.timeoutMs !== undefined && { timeoutMs: more.timeoutMs }),
  run: async (ctx) => ({
    summary: String(await run(async (args) => String(await ctx.tools["send"]?.execute(args)), ctx)),
  }),
});

const ask = (ctx: PersonaContext, question: object): Promise<string> =>
  ctx.tools["ask_person"]?.execute(question) as Promise<string>;

const run = async (maestro: Maestro, team: Team) => (await maestro.start(team, { brief: "b", key })).result();
const resumed = async (maestro: Maestro) => (await maestro.resume(key)).result();

async function waitingSeq(maestro: Maestro, place = 0): Promise<number> {
  return (await maestro.show(key)).waiting[place]?.seq ?? 0;
}

async function summaryOf(maestro: Maestro, name = "dev"): Promise<string | null | undefined> {
  const { phases } = await maestro.show(key);
  return phases[0]?.personas.find((one) => one.name === name)?.summary;
}

const attemptsOf = async (maestro: Maestro) =>
  (await maestro.show(key)).phases.flatMap(({ personas }) => personas.flatMap(({ attempts }) => attempts));

describe.each([
  ["that may be repeated", true],
  ["that must happen at most once", false],
])("a call %s", (_, repeatable) => {
  const begin = async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    const team = only(asking(sent, (send) => send({ to: "Ann" }), { tool: { repeatable } }));
    const result = await run(maestro, team);
    return { place, sent, maestro, result };
  };

  test("waits for approval, is shown with its arguments, and happens once after it", async () => {
    const { maestro, result, sent } = await begin();
    expect(result).toMatchObject({ ...review, ticket: null });
    const seq = await waitingSeq(maestro);
    expect((await maestro.show(key)).waiting).toEqual([
      { seq, kind: "call", persona: "dev", call: { tool: "send", arguments: { to: "Ann" } } },
    ]);
    expect(await resumed(maestro), "nothing happens without an answer").toMatchObject(review);
    expect(await waitingSeq(maestro), "it is asked once").toBe(seq);
    expect(sent).toEqual([]);
    await maestro.approve(key, { call: seq, note: "fine" });
    expect(await maestro.show(key)).toMatchObject({ status: "paused", waiting: [] });
    expect(sent, "approval alone runs nothing").toEqual([]);
    expect((await resumed(maestro)).status).toBe("completed");
    expect(sent).toEqual([{ to: "Ann" }]);
    expect(await summaryOf(maestro)).toBe("sent letter 1");
    expect(await attemptsOf(maestro)).toHaveLength(1);
    await expect(maestro.approve(key, { call: seq })).rejects.toThrow("was approved already");
  });

  test("that a person rejects has the note as its result and does not happen", async () => {
    const { maestro, sent } = await begin();
    await maestro.reject(key, { call: await waitingSeq(maestro), note: "not on a Sunday" });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(await summaryOf(maestro)).toBe("A person did not allow this call: not on a Sunday");
    expect(sent).toEqual([]);
    expect((await maestro.show(key)).effects).toEqual([]);
  });

  test("happens with the arguments of a person, and its result says so", async () => {
    const { maestro, sent, place } = await begin();
    await maestro.approve(key, { call: await waitingSeq(maestro), arguments: { to: "Bob" } });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(sent).toEqual([{ to: "Bob" }]);
    expect(await summaryOf(maestro)).toBe(
      'A person changed the arguments of this call to {"to":"Bob"}.\nsent letter 1',
    );
    const calls = rowsOf(await readRecorded(place.stateDir, key), "effect.intended").map(({ call }) => call);
    expect(calls).toEqual(repeatable ? [] : [{ tool: "send", arguments: { to: "Bob" } }]);
  });

  test("does not happen with a person's arguments that do not fit", async () => {
    const { maestro, sent } = await begin();
    await maestro.approve(key, { call: await waitingSeq(maestro), arguments: { too: "Bob" } });
    expect(await resumed(maestro), "the next attempt asks again").toMatchObject(review);
    const [first] = await attemptsOf(maestro);
    expect(first?.failure?.message).toContain("The call was not made.");
    expect(sent).toEqual([]);
  });
});

test("an approval of a call that changed since does not hold, and the changed call waits by itself", async () => {
  const [place, sent] = [new TeamPlace(), [] as unknown[]];
  const maestro = await place.open();
  let to = "Ann";
  const team = only(asking(sent, (send) => send({ to })));
  await run(maestro, team);
  const first = await waitingSeq(maestro);
  await maestro.approve(key, { call: first });
  to = "Bob";
  expect(await resumed(maestro)).toMatchObject(review);
  expect(sent).toEqual([]);
  const second = await waitingSeq(maestro);
  expect(second).not.toBe(first);
  to = "Carl";
  expect(await resumed(maestro)).toMatchObject(review);
  await expect(maestro.approve(key, { call: second })).rejects.toThrow("is outdated");
  const third = await waitingSeq(maestro);
  expect((await maestro.show(key)).waiting).toHaveLength(1);
  await maestro.approve(key, { call: third });
  await resumed(maestro);
  expect(sent).toEqual([{ to: "Carl" }]);
});

test("each of two equal calls waits for a word of its own, and calls that wait together are answered one by one", async () => {
  const [place, sent] = [new TeamPlace(), [] as unknown[]];
  const maestro = await place.open();
  const team = only(asking(sent, (send) => Promise.all([send({ to: "Ann" }), send({ to: "Ann" })])));
  // The tools of one persona run one after the other only where its code awaits them.
  expect(await run(maestro, team)).toMatchObject(review);
  const { waiting } = await maestro.show(key);
  expect(waiting).toHaveLength(2);
  await maestro.approve(key, { call: waiting[0]?.seq ?? 0 });
  expect(await maestro.show(key)).toMatchObject(review);
  await maestro.reject(key, { call: waiting[1]?.seq ?? 0, note: "one is enough" });
  expect((await resumed(maestro)).status).toBe("completed");
  expect(sent).toHaveLength(1);
});

test("a word is refused where there is nothing to say it about", async () => {
  const [place, sent] = [new TeamPlace(), [] as unknown[]];
  const maestro = await place.open();
  const team = only(asking(sent, (send) => send({ to: "Ann" })));
  await run(maestro, team);
  const call = await waitingSeq(maestro);
  const refusals: readonly (readonly [() => Promise<void>, string])[] = [
    [() => maestro.approve(key, { call: call + 1 }), "has no call that waits"],
    [() => maestro.approve(key), `Call ${call} of dev waits for a person, no phase`],
    [() => maestro.approve(key, { phase: "work" }), `Call ${call} of dev waits for a person, not phase work`],
    [() => maestro.approve(key, { call, phase: "work" }), "either a phase or a call"],
    [() => maestro.approve(key, { arguments: {} }), "are for a call"],
    [() => maestro.reject(key, { call, note: " " }), "needs a note"],
    [() => maestro.answer(key, call, "yes"), "not a question"],
  ];
  for (const [refused, text] of refusals) await expect(refused()).rejects.toThrow(text);
  await expect(maestro.approve(key)).rejects.toMatchObject({
    actions: [
      { command: ["maestro", "approve", key, "--call", String(call)] },
      { command: ["maestro", "reject", key, "--call", String(call), "--note", "<what to change>"] },
    ],
  });
  await maestro.approve(key, { call });
  await expect(maestro.reject(key, { call, note: "too late" })).rejects.toThrow("was approved already");
  await expect(maestro.approve(key)).rejects.toThrow("No phase of session");
});

test("a review of a session where only a question waits is refused with the command that answers it", async () => {
  const maestro = await new TeamPlace().open();
  await run(maestro, only(asking([], (_, ctx) => ask(ctx, { question: "Which port?" }))));
  const question = await waitingSeq(maestro);
  const rejection = maestro.reject(key, { note: "not like this" });
  await expect(rejection).rejects.toThrow(`Question ${question} of dev waits for a person, no phase`);
  await expect(rejection).rejects.toMatchObject({
    actions: [{ command: ["maestro", "answer", key, String(question), "..."] }],
  });
});

describe("a question to a person", () => {
  test("waits without an end, and the answer is its result", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    // An attempt may stand still for less time than the wait takes.
    const team = only(asking(sent, (_, ctx) => ask(ctx, { question: "Which port?" }), { timeoutMs: 100 }));
    expect(await run(maestro, team)).toMatchObject(review);
    const [question] = (await maestro.show(key)).waiting;
    expect(question).toMatchObject({ kind: "question", persona: "dev", call: { tool: "ask_person" } });
    await expect(maestro.approve(key, { call: question?.seq ?? 0 })).rejects.toThrow("is a question");
    await expect(maestro.answer(key, question?.seq ?? 0, "  ")).rejects.toThrow("needs a text");
    await maestro.answer(key, question?.seq ?? 0, "4160");
    expect((await resumed(maestro)).status).toBe("completed");
    expect(await summaryOf(maestro)).toBe("4160");
    expect(await attemptsOf(maestro)).toHaveLength(1);
  });

  test("with choices takes one of them", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    const team = only(asking(sent, (_, ctx) => ask(ctx, { question: "Which?", choices: ["red", "blue"] })));
    await run(maestro, team);
    const seq = await waitingSeq(maestro);
    await expect(maestro.answer(key, seq, "rad")).rejects.toThrow("not one of the choices");
    await maestro.answer(key, seq, "blue");
    await resumed(maestro);
    expect(await summaryOf(maestro)).toBe("blue");
  });

  test("has the same answer in later attempts, and an approval has to be given again", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open({ rounds: { max: 1 } });
    const heard: string[] = [];
    const team = only(
      asking(
        sent,
        async (send, ctx) => {
          heard.push(await ask(ctx, { question: "Which?" }));
          await send({ to: "Ann" });
          if (ctx.failures.length === 0) throw new Error("not good enough");
        },
        { tool: { repeatable: true } },
      ),
    );
    await run(maestro, team);
    await maestro.answer(key, await waitingSeq(maestro), "this one");
    await resumed(maestro);
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    expect(await resumed(maestro)).toMatchObject(review);
    expect(sent).toHaveLength(1);
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(sent).toHaveLength(2);
    expect(new Set(heard)).toEqual(new Set(["this one"]));
  });
});

describe("while other personas work", () => {
  test("the session keeps running, and a call that is answered meanwhile continues at once", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    const door = Promise.withResolvers<void>();
    const busy = persona("busy", {
      run: ({ step }) => step("wait", () => door.promise.then(() => ({ summary: "done" }))),
    });
    const team = only(
      asking(sent, (send) => send({ to: "Ann" })),
      [busy],
    );
    const session = await maestro.start(team, { brief: "b", key });
    await vi.waitUntil(async () => (await maestro.show(key)).waiting.length === 1, { timeout: 10_000 });
    expect((await maestro.show(key)).status).toBe("running");
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    await vi.waitUntil(() => sent.length === 1, { timeout: 10_000 });
    door.resolve();
    expect((await session.result()).status).toBe("completed");
  });

  test("it parks when only the waiting call is left, with the work of the others kept", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    const other = persona("other", { run: place.work("other", ({ sleep }) => sleep(400)) });
    const team = only(
      asking(sent, (send) => send({ to: "Ann" })),
      [other],
    );
    expect(await run(maestro, team)).toMatchObject(review);
    expect(await summaryOf(maestro, "other")).toBe("other is done");
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(place.ran).toEqual(["other"]);
  });

  test("one that waits lends its turn to the next, where personas work one at a time", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    const others = ["second", "third"].map((name) => persona(name, { run: place.work(name) }));
    const dev = persona(
      "dev",
      asking(sent, (send) => send({ to: "Ann" })),
    );
    const team = defineTeam("people", {
      parallel: 1,
      phases: [phase("work", { personas: [dev, ...others] })],
    });
    expect(await run(maestro, team)).toMatchObject(review);
    expect(place.ran).toEqual(["second", "third"]);
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(sent).toHaveLength(1);
  });

  test("a persona that needs help has its ticket, and the call waits beside it", async () => {
    const [place, sent] = [new TeamPlace(), [] as unknown[]];
    const maestro = await place.open();
    let isBroken = true;
    const other = persona("other", {
      run: async () => {
        if (isBroken) throw new Error("The key is missing.");
        return { summary: "done" };
      },
    });
    const team = only(
      asking(sent, (send) => send({ to: "Ann" })),
      [other],
    );
    expect(await run(maestro, team)).toMatchObject({ status: "parked", reason: "help" });
    isBroken = false;
    await maestro.approve(key, { call: await waitingSeq(maestro) });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(sent).toHaveLength(1);
  });
});

test("a person's pause, cancel and fork end a wait, and a fork asks again", async () => {
  const [place, sent] = [new TeamPlace(), [] as unknown[]];
  const team = only(asking(sent, (send) => send({ to: "Ann" })));
  const maestro = await place.open({ teams: [team] });
  await run(maestro, team);
  const fork = await maestro.fork(key, { at: "work" });
  expect(await (await maestro.resume(fork.id)).result()).toMatchObject(review);
  const [forked] = (await maestro.show(fork.id)).waiting;
  await maestro.cancel(key);
  expect((await maestro.show(key)).waiting).toEqual([]);
  await maestro.approve(fork.id, { call: forked?.seq ?? 0 });
  expect((await (await maestro.resume(fork.id)).result()).status).toBe("completed");
  expect(sent).toHaveLength(1);
});

describe("a model", () => {
  const submit = { calls: [{ tool: "submit", input: { summary: "done" } }] };
  const write = { calls: [{ tool: "write_file", input: { path: "a.md", content: "a" } }] };

  async function start(turns: readonly object[], options: object = {}) {
    const place = new TeamPlace();
    const script = join(place.stateDir, "script.json");
    writeFileSync(script, JSON.stringify({ personas: { dev: [turns] } }));
    const maestro = await place.open({ script });
    const team = defineTeam("people", {
      model: "simulated",
      phases: [
        phase("work", {
          personas: [persona("dev", { instructions: "Work.", ...options })],
        }),
      ],
    });
    return { place, maestro, result: await run(maestro, team) };
  }

  test("pays nothing while its call waits, and gets the person's answer", async () => {
    const { place, maestro, result } = await start([write, submit], { approve: ["write_file"] });
    expect(result).toMatchObject(review);
    const { calls } = (await maestro.show(key)).usage;
    expect(await resumed(maestro)).toMatchObject(review);
    expect((await maestro.show(key)).usage.calls).toBe(calls);
    const edited = { path: "b.md", content: "b" };
    const seq = await waitingSeq(maestro);
    await expect(maestro.approve(key, { call: seq, arguments: { path: 7 } })).rejects.toThrow("do not fit");
    await maestro.approve(key, { call: seq, arguments: edited });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(await place.filesOf(maestro, key)).toEqual({ "b.md": "b" });
    const { rows } = await readRecorded(place.stateDir, key);
    const last = rows.findLast(({ kind }) => kind === "step.model")?.body ?? "";
    expect(last).toContain("A person changed the arguments of this call");
  });

  test("may be rejected more often than a policy may refuse it", async () => {
    const writes = ["a", "b", "c", "d"].map((name) => ({
      calls: [{ tool: "write_file", input: { path: `${name}.md`, content: name } }],
    }));
    const { place, maestro } = await start([...writes, submit], { approve: ["write_file"] });
    for (const _ of writes) {
      await maestro.reject(key, { call: await waitingSeq(maestro), note: "no files, please" });
      await resumed(maestro);
    }
    expect((await maestro.show(key)).status).toBe("completed");
    expect(await place.filesOf(maestro, key)).toEqual({});
  });

  test("asks only where its tools name ask_person, and keeps the answer on other files", async () => {
    const question = { calls: [{ tool: "ask_person", input: { question: "Which license?" } }] };
    const { place, maestro, result } = await start([question, write, submit], {
      tools: ["write_file", "ask_person"],
    });
    expect(result).toMatchObject(review);
    await maestro.answer(key, await waitingSeq(maestro), "MIT");
    expect((await resumed(maestro)).status).toBe("completed");
    const { rows } = await readRecorded(place.stateDir, key);
    expect(rows.find(({ name }) => name === "ask_person")?.body).toContain("MIT");
  });
});

describe.skipIf(sandbox.kind === "none")("a rule for commands", () => {
  test("lets other commands run, and a line with the command in it waits until a person changes it", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const said: string[] = [];
    const team = only({
      tools: ["run_command"],
      approve: ["run_command:git push*"],
      run: async ({ tools }) => {
        for (const command of ["echo free", "true; git push origin main"])
          said.push((await tools["run_command"]?.execute({ command })) as string);
        return { summary: "done" };
      },
    });
    expect(await run(maestro, team)).toMatchObject(review);
    expect(said[0]).toContain("free");
    const call = await waitingSeq(maestro);
    const both = { command: "echo a", argv: ["echo", "b"], wrong: 1 };
    await expect(maestro.approve(key, { call, arguments: both })).rejects.toThrow("do not fit run_command");
    await maestro.approve(key, { call, arguments: { command: "echo pushed" } });
    expect((await resumed(maestro)).status).toBe("completed");
    expect(said.at(-1)).toMatch(/^A person changed the arguments.*"echo pushed".*[^]*<stdout>\npushed/);
  });
});

test("a rule that matches no tool of its persona is refused, with the closest one", () => {
  const team = (options: object) => () => only({ instructions: "Work.", ...options });
  expect(team({ approve: ["wirte_file"] })).toThrow(
    '"wirte_file" is no tool of this persona. Did you mean "write_file"',
  );
  expect(team({ approve: ["run_command:git push*"] })).toThrow("is no tool of this persona");
  expect(team({ approve: ["ask_person"], tools: ["ask_person"] })).toThrow("asks a person anyway");
  expect(team({ approve: ["write_file:"] })).toThrow("must be");
  expect(team({ approve: ["github/*"] })).toThrow("is no tool of this persona");
  expect(team({ approve: ["write_file", "*"] })).not.toThrow();
});
