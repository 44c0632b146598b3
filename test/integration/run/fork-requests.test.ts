import { describe, expect, it } from "vitest";
import { defineTeam, type ForkOptions, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

/** a, b, c in a line, each with a file. */
function line(place: TeamPlace, { review = false, consumes = false } = {}) {
  return defineTeam("line", {
    phases: ["a", "b", "c"].map((name) =>
      phase(name, {
        review: review && name === "b",
        personas: [
          persona(`p${name}`, {
            ...(consumes && name === "b" && { consumes: ["pa"] }),
            run: place.work(`p${name}`, async ({ workspace, notes }) => {
              await workspace.write(`${name}.txt`, name);
              return { told: [...notes] };
            }),
          }),
        ],
      }),
    ),
  });
}

async function finished(place: TeamPlace, options: { key?: string; given?: Record<string, object> } = {}) {
  const maestro = await place.open();
  const session = await maestro.start(line(place), { brief: "x", ...options });
  expect(await session.result()).toMatchObject({ status: "completed" });
  place.ran.length = 0;
  return { maestro, id: session.id };
}

async function halfway(place: TeamPlace) {
  const maestro = await place.open();
  const session = await maestro.start(line(place), { brief: "x", until: "b" });
  await session.result();
  return { maestro, id: session.id };
}

const actions = ({ personas }: { readonly personas: readonly { action: string }[] }) =>
  personas.map(({ action }) => action);

describe("the plan of a fork request", () => {
  it("uses the requested model", async () => {
    const place = new TeamPlace();
    const maestro = await place.open({ model: "simulated" });
    const team = defineTeam("talk", {
      phases: [
        phase("a", { personas: [persona("one", { instructions: "Say something." })] }),
        phase("b", { personas: [persona("two", { instructions: "Say something else." })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    const same = await maestro.planFork(session.id, { at: "b" });
    expect(actions(same)).toEqual(["kept", "reused"]);
    const other = await maestro.planFork(session.id, { at: "b", model: "openai/gpt-5" });
    expect(actions(other)).toEqual(["kept", "runs"]);
  });

  it.each<[string, ForkOptions, RegExp, RegExp]>([
    [
      "an edit that phases between would hide",
      { at: "c", edits: { a: { files: { "a.txt": "new" } } } },
      /Phase b depends on a, which is edited/,
      /--at b --edit a=/,
    ],
    [
      "an edit over a phase that runs again",
      { at: "a", edits: { b: { files: { "b.txt": "new" } } }, fresh: true },
      /b is edited and depends on a/,
      /--at c --edit b=/,
    ],
    [
      "an edit of the last phase over one that runs again",
      { at: "b", edits: { c: { files: { "c.txt": "new" } } } },
      /c is edited and depends on b/,
      /resume .* --edit c=/,
    ],
  ])("is refused for %s, with the command that works", async (_, request, message, advice) => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    for (const ask of [() => maestro.planFork(id, request), () => maestro.fork(id, request)])
      await expect(ask()).rejects.toMatchObject({
        message: expect.stringMatching(message),
        advice: expect.stringMatching(advice),
      });
  });

  it("leaves the branches beside the edited one alone", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const graph = defineTeam("graph", {
      phases: [
        ...["a", "b"].map((name) =>
          phase(name, { dependsOn: [], personas: [persona(`p${name}`, { run: place.work(`p${name}`) })] }),
        ),
        phase("c", { dependsOn: ["a", "b"], personas: [persona("pc", { run: place.work("pc") })] }),
      ],
    });
    const session = await maestro.start(graph, { brief: "x" });
    await session.result();
    const plan = await maestro.planFork(session.id, { at: "a", edits: { b: { summary: "new" } } });
    expect(actions(plan)).toEqual(["reused", "kept", "runs"]);
  });
});

describe("the plan of a resume", () => {
  it("includes its edits and its direction", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(line(place), { brief: "x", until: "a" });
    await session.result();
    expect(actions(await maestro.plan(session.id))).toEqual(["kept", "runs", "runs"]);
    expect(actions(await maestro.plan(session.id, { direction: { until: "b" } }))).toEqual(["kept", "runs"]);
    const edits = { a: { files: { "a.txt": "new" } } };
    expect(actions(await maestro.plan(session.id, { edits }))).toEqual(["kept", "runs", "runs"]);
    await expect(maestro.plan(session.id, { edits: { b: edits.a } })).rejects.toThrow(
      /has no result to edit yet/,
    );
    expect((await maestro.show(session.id)).phases[0]?.revision).toBe(1);
  });

  it("includes a change of the team, which must be accepted as in the resume", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await halfway(place);
    const team = line(place, { consumes: true });
    await expect(maestro.plan(id, { team })).rejects.toMatchObject({ code: "TEAM_CHANGED" });
    const plan = await maestro.plan(id, { team, acceptChanges: true });
    expect(actions(plan)).toEqual(["kept", "runs", "runs"]);
    expect(actions(await maestro.plan(id))).toEqual(["kept", "kept", "runs"]);
  });
});

describe("a fork", () => {
  it("reuses a phase that was rejected once, and passes the note to personas that run again", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(line(place, { review: true }), { brief: "x" });
    await session.result();
    await maestro.reject(session.id, { note: "shorter" });
    await maestro.executeBatch(session.id);
    await maestro.approve(session.id);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(actions(await maestro.planFork(session.id, { at: "b" }))).toEqual(["kept", "reused", "reused"]);
    place.ran.length = 0;
    const fork = await maestro.fork(session.id, { at: "b" });
    await maestro.executeBatch(fork.id);
    expect(place.ran).toEqual([]);
    const grandchild = await maestro.fork(fork.id, { at: "a" });
    expect(actions(await maestro.plan(grandchild.id))).toEqual(["reused", "reused", "reused"]);
    const edited = await maestro.fork(session.id, { at: "b", edits: { a: { files: { "a.txt": "new" } } } });
    const { results } = await maestro.executeBatch(edited.id);
    expect(place.ran).toContain("pb");
    expect(results?.["b"]?.["pb"]?.outputs).toEqual({ told: ["shorter"] });
    expect((await maestro.show(edited.id)).phases[1]?.notes).toEqual(["shorter"]);
  });

  it("is another session than its parent: a key of other work is refused", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place, { key: "parent" });
    await expect(maestro.fork(id, { at: "b", key: "parent" })).rejects.toThrow(/belongs to session/);
    const edit = (text: string) => ({ at: "b", key: "fork", edits: { a: { files: { "a.txt": text } } } });
    const first = await maestro.fork(id, edit("one"));
    expect((await maestro.fork(id, edit("one"))).id).toBe(first.id);
    await expect(maestro.fork(id, edit("two"))).rejects.toMatchObject({ code: "SESSION_CONFLICT" });
    await expect(maestro.fork(id, { ...edit("one"), fresh: true })).rejects.toThrow(/is not this fork/);
    await expect(maestro.fork(id, { ...edit("one"), model: "simulated" })).rejects.toThrow(/not this fork/);
    expect(await maestro.sessions()).toHaveLength(2);
  });

  it("has the limits of its parent, unless it sets others", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place);
    await maestro.setBudget(id, { usd: 5 });
    await maestro.setBudget(id, { phase: "b", tokens: 700 });
    const limits = async (session: string) =>
      (await maestro.budgets(session))
        .filter(({ level }) => level === "session" || level === "phase")
        .map(({ level, budget }) => [level, budget]);
    const fork = await maestro.fork(id, { at: "b" });
    expect(await limits(fork.id)).toEqual(await limits(id));
    expect(await limits(fork.id)).toContainEqual(["session", { microUsd: 5_000_000 }]);
    const cheap = await maestro.fork(id, { at: "b", budget: { usd: 1 } });
    expect(await limits(cheap.id)).toContainEqual(["session", { microUsd: 1_000_000 }]);
    expect(await limits(cheap.id)).toContainEqual(["phase", { tokens: 700 }]);
  });

  it("records that a phase came from outside, and its origin", async () => {
    const place = new TeamPlace();
    const { maestro, id } = await finished(place, { given: { a: { files: {}, origin: "a folder" } } });
    const fork = await maestro.fork(id, { at: "b" });
    await maestro.executeBatch(fork.id);
    const { phases } = await maestro.show(fork.id);
    expect(phases[0]?.source).toEqual({ kind: "given", origin: "a folder" });
  });
});
