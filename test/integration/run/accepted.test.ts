import { describe, expect, it } from "vitest";
import {
  defineTeam,
  type Maestro,
  type PersonaContext,
  persona,
  phase,
  type Team,
} from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const accept = async (maestro: Maestro, id: string, team: Team) =>
  (await maestro.resume(id, { team, acceptChanges: true })).result();

const writer = (place: TeamPlace, name: string, path: string, content: string, more = {}) =>
  persona(name, { ...more, run: place.work(name, ({ workspace }) => workspace.write(path, content)) });

/** Makes it another persona. */
const version = (v: number) => ({ contract: { outputs: { type: "object", description: `v${v}` } } });

describe("an accepted change", () => {
  it("runs only the added persona of a completed phase", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const plain = (name: string) => persona(name, { run: place.work(name) });
    const team = (...names: string[]) =>
      defineTeam("added", {
        phases: [phase("a", { personas: names.map(plain) }), phase("b", { personas: [plain("pb")] })],
      });
    const session = await maestro.start(team("pa"), { brief: "x", until: "a" });
    await session.result();
    const { status, results } = await accept(maestro, session.id, team("pa", "pa2"));
    expect(status).toBe("completed");
    expect(Object.keys(results["a"] ?? {})).toEqual(["pa", "pa2"]);
    expect(place.ran).toEqual(["pa", "pa2", "pb"]);
  });

  it("judges a completed phase by its new gate without running it", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (gate?: number) =>
      defineTeam("gated", {
        phases: [
          phase("a", {
            ...(gate !== undefined && { gate }),
            personas: [
              persona("pa", {
                contract: { deliverables: [{ name: "d", files: ["zzz"], must: false }] },
                run: place.work("pa"),
              }),
            ],
          }),
          phase("b", { personas: [persona("pb", { run: place.work("pb") })] }),
        ],
      });
    const session = await maestro.start(team(), { brief: "x", until: "a" });
    await session.result();
    expect(await accept(maestro, session.id, team(0.9))).toMatchObject({
      status: "parked",
      reason: "review",
    });
    expect((await maestro.show(session.id)).phases[0]?.gate).toMatchObject({
      threshold: 0.9,
      verdict: "failed",
    });
    expect(place.ran).toEqual(["pa"]);
  });

  it("asks for the review that a completed phase now requires, and keeps all results", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (review: boolean) =>
      defineTeam("reviewed", {
        phases: [
          phase("a", { review, personas: [persona("pa", { run: place.work("pa") })] }),
          phase("b", { personas: [persona("pb", { run: place.work("pb") })] }),
          phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
        ],
      });
    const session = await maestro.start(team(false), { brief: "x", until: "b" });
    await session.result();
    expect(await accept(maestro, session.id, team(true))).toMatchObject({
      status: "parked",
      reason: "review",
    });
    await maestro.approve(session.id);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pa", "pb", "pc"]);
  });
});

describe("a person's edit", () => {
  const team = (place: TeamPlace, v: number, content = "old\n") =>
    defineTeam("edited", {
      phases: [
        phase("a", {
          review: true,
          personas: [
            writer(place, "pa", "a.md", content, content === "old\n" ? {} : version(v)),
            persona("pa2", { ...version(v), run: place.work("pa2") }),
          ],
        }),
        phase("b", {
          review: true,
          personas: [
            persona("pb", {
              run: place.work("pb", async ({ workspace }: PersonaContext) => ({
                saw: await workspace.readText("a.md"),
              })),
            }),
          ],
        }),
        phase("c", { personas: [persona("pc", { run: place.work("pc") })] }),
      ],
    });

  it("stays when another persona of the phase is changed and accepted", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team(place, 1), { brief: "x" });
    await session.result();
    const edits = { a: { files: { "a.md": "EDITED\n", "new.md": "new\n" } } };
    await (await maestro.resume(session.id, { edits })).result();
    place.ran.length = 0;
    await accept(maestro, session.id, team(place, 2));
    await maestro.approve(session.id);
    await maestro.executeBatch(session.id);
    await maestro.approve(session.id);
    const { status, results } = await maestro.executeBatch(session.id);
    expect(status).toBe("completed");
    expect(place.ran).toEqual(["pa2", "pc"]);
    expect(results["b"]).toMatchObject({ pb: { outputs: { saw: "EDITED\n" } } });
    expect(await place.filesOf(maestro, session.id)).toEqual({ "a.md": "EDITED\n", "new.md": "new\n" });
  });

  it("parks for review where it clashes with the new work of a changed persona", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team(place, 1), { brief: "x" });
    await session.result();
    await (
      await maestro.resume(session.id, { edits: { a: { files: { "a.md": "EDITED\n", "new.md": "new\n" } } } })
    ).result();
    const changed = team(place, 2, "other\n");
    expect(await accept(maestro, session.id, changed)).toMatchObject({ status: "parked", reason: "review" });
    const { decisions } = await maestro.show(session.id);
    expect(decisions.at(-1)).toMatchObject({
      phase: "a",
      title: "Which version of a.md",
      reason: expect.stringMatching(/EDITED/) as string,
    });
    await maestro.reject(session.id, { note: "once more" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "parked", reason: "review" });
    expect(await place.filesOf(maestro, session.id)).toEqual({ "a.md": "other\n", "new.md": "new\n" });
  });

  it("is visible to consumers of the phase's personas, including added files", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: (readonly string[])[] = [];
    const reads = (name: string) =>
      persona(name, {
        consumes: ["pa"],
        run: place.work(name, ({ workspace }) => {
          seen.push(workspace.list());
        }),
      });
    const consumed = defineTeam("consumed", {
      phases: [
        phase("a", { review: true, personas: [writer(place, "pa", "req.md", "1")] }),
        phase("b", { personas: [reads("pb")] }),
        phase("c", { personas: [reads("pc")] }),
      ],
    });
    const session = await maestro.start(consumed, { brief: "x" });
    await session.result();
    const edits = { a: { files: { "extra.md": "2", "req.md": "9" } } };
    const resumed = await maestro.resume(session.id, { edits });
    expect(await resumed.result()).toMatchObject({ status: "completed" });
    const fork = await maestro.fork(session.id, { at: "c", fresh: true });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    const both = ["extra.md", "req.md"];
    expect(seen).toEqual([both, both, both]);
  });
});

describe("branches that left different versions of a file", () => {
  it("are reviewed where they first meet, and not again in later phases", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = defineTeam("twice", {
      phases: [
        phase("a", { personas: [writer(place, "pa", "a.md", "a\n")] }),
        phase("b", { dependsOn: ["a"], personas: [writer(place, "pb", "x.md", "of b\n")] }),
        phase("c", { dependsOn: ["a"], personas: [writer(place, "pc", "x.md", "of c\n")] }),
        phase("d", { dependsOn: ["b", "c"], personas: [writer(place, "pd", "x.md", "of both\n")] }),
        phase("f", { dependsOn: ["a"], personas: [writer(place, "pf", "f.md", "f\n")] }),
        phase("e", { dependsOn: ["d", "f"], personas: [persona("pe", { run: place.work("pe") })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    await maestro.approve(session.id);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(await place.filesOf(maestro, session.id)).toEqual({
      "a.md": "a\n",
      "f.md": "f\n",
      "x.md": "of both\n",
    });
  });

  it("are shown to the personas of the phase where they meet, and a person reviews the result", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const notes: string[] = [];
    const team = defineTeam("branches", {
      phases: [
        phase("a", { personas: [writer(place, "pa", "a.md", "a\n")] }),
        phase("b", { dependsOn: ["a"], personas: [writer(place, "pb", "x.md", "of b\n")] }),
        phase("c", { dependsOn: ["a"], personas: [writer(place, "pc", "x.md", "of c\n")] }),
        phase("d", {
          dependsOn: ["b", "c"],
          personas: [
            persona("pd", {
              run: place.work("pd", (context) => {
                notes.push(...context.notes);
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    expect(notes).toEqual([expect.stringMatching(/x\.md[\s\S]*of b[\s\S]*of c/)]);
    const { decisions } = await maestro.show(session.id);
    expect(decisions.at(-1)).toMatchObject({ title: "Which version of x.md", reason: notes[0] });
    await maestro.approve(session.id);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    const fork = await maestro.fork(session.id, { at: "d" });
    expect((await maestro.plan(fork.id)).personas.at(-1)).toMatchObject({ persona: "pd", action: "reused" });
  });
});
