import { describe, expect, it } from "vitest";
import { defineTeam, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const threePhases = (place: TeamPlace) =>
  defineTeam("delivery", {
    phases: [
      phase("requirements", {
        personas: [persona("analyst", { run: place.work("analyst", () => ({ needs: 3 })) })],
      }),
      phase("design", { personas: [persona("architect", { run: place.work("architect") })] }),
      phase("build", { personas: [persona("developer", { run: place.work("developer") })] }),
    ],
  });

describe("phases that run one by one", () => {
  it("runs one phase and leaves the others pending and the session paused", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(threePhases(place), { brief: "a shop" });
    expect(await maestro.executePhase(id, "requirements")).toMatchObject({ status: "paused" });
    const { phases } = await maestro.show(id);
    expect(phases.map(({ status }) => status)).toEqual(["completed", "pending", "pending"]);
    expect(place.ran).toEqual(["analyst"]);
  });

  it("never runs a completed phase again, however often it is requested", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(threePhases(place), { brief: "a shop" });
    await Promise.all([1, 2, 3].map(() => maestro.executePhase(id, "requirements")));
    await maestro.executePhase(id, "requirements");
    expect(place.ran).toEqual(["analyst"]);
  });

  it("runs the phases in any possible order that an outside orchestrator calls", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(threePhases(place), { brief: "a shop" });
    for (const name of ["requirements", "design"]) await maestro.executePhase(id, name);
    expect(await maestro.executePhase(id, "build")).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["analyst", "architect", "developer"]);
  });

  it("refuses a phase whose dependency has no result, names it, and leaves the session unchanged", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(threePhases(place), { brief: "a shop" });
    await expect(maestro.executePhase(id, "build")).rejects.toThrow(/needs a result of design/);
    await expect(maestro.executePhase(id, "desing")).rejects.toThrow(/Did you mean "design"/);
    expect(await maestro.show(id)).toMatchObject({ status: "queued" });
  });

  it("runs until a phase, and a resume runs the rest", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(threePhases(place), { brief: "a shop", until: "design" });
    expect(await session.result()).toMatchObject({ status: "paused" });
    expect(place.ran).toEqual(["analyst", "architect"]);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["analyst", "architect", "developer"]);
  });

  it("starts in the middle with given phases, and marks their checkpoints as synthetic", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const seen: unknown[] = [];
    const team = defineTeam("delivery", {
      phases: [
        phase("requirements", { personas: [persona("analyst", { run: place.work("analyst") })] }),
        phase("build", {
          personas: [
            persona("developer", {
              run: place.work("developer", async ({ context, workspace }) => {
                seen.push(
                  context.results["requirements"]?.["analyst"],
                  await workspace.readText("docs/needs.md"),
                );
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, {
      brief: "a shop",
      from: "build",
      given: {
        requirements: { outputs: { needs: 2 }, files: { "docs/needs.md": "# Needs\n" }, origin: "a folder" },
      },
    });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["developer"]);
    expect(seen).toEqual([{ summary: "Given from outside.", outputs: { needs: 2 } }, "# Needs\n"]);
    const { phases } = await maestro.show(session.id);
    expect(phases[0]?.source).toEqual({ kind: "given", origin: "a folder" });
    const [, given] = await maestro.checkpoints(session.id);
    expect(given).toMatchObject({ phase: "requirements", valid: true });
  });

  it("names the missing phases when it should start in the middle without given ones", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const started = maestro.start(threePhases(place), { brief: "a shop", from: "build" });
    await expect(started).rejects.toThrow(/needs a result of requirements, design/);
    expect(place.ran).toEqual([]);
    expect(await maestro.sessions()).toEqual([]);
  });

  it("needs every phase before its first one, not only the direct dependency", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = threePhases(place);
    const from = { brief: "a shop", from: "build" } as const;
    await expect(maestro.start(team, from)).rejects.toMatchObject({
      details: { missing: ["requirements", "design"] },
    });
    const design = { files: { "docs/design.md": "# Design\n" } };
    await expect(maestro.start(team, { ...from, given: { design } })).rejects.toMatchObject({
      message: expect.stringContaining("Phase build needs a result of requirements"),
      details: { missing: ["requirements"] },
      advice: expect.stringContaining("--given requirements="),
    });
    const requirements = { outputs: { needs: 1 } };
    const session = await maestro.start(team, { ...from, given: { requirements, design } });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["developer"]);
  });

  it("needs no phase of another branch", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const one = (name: string) => [persona(`p${name}`, { run: place.work(name) })];
    const team = defineTeam("branches", {
      phases: [
        phase("a", { personas: one("a") }),
        phase("b", { dependsOn: ["a"], personas: one("b") }),
        phase("c", { dependsOn: ["a"], personas: one("c") }),
        phase("d", { dependsOn: ["c"], personas: one("d") }),
      ],
    });
    const given = { a: { outputs: {} }, c: { outputs: {} } };
    const session = await maestro.start(team, { brief: "x", from: "d", given });
    expect(await session.result()).toMatchObject({ status: "paused" });
    expect(place.ran).toEqual(["d"]);
  });
});

describe("phases that form a graph", () => {
  const diamond = (place: TeamPlace) =>
    defineTeam("diamond", {
      phases: [
        phase("root", {
          personas: [
            persona("a", {
              run: place.work("a", ({ workspace }) => workspace.write("shared.txt", "1\n2\n3\n4\n5\n")),
            }),
          ],
        }),
        phase("left", {
          dependsOn: ["root"],
          personas: [
            persona("b", {
              run: place.work("b", ({ workspace }) =>
                workspace.edit("shared.txt", [{ find: "1\n", replace: "one\n" }]),
              ),
            }),
          ],
        }),
        phase("right", {
          dependsOn: ["root"],
          personas: [
            persona("c", {
              run: place.work("c", async ({ workspace, context }) => {
                expect(Object.keys(context.results)).toEqual(["root"]);
                await workspace.edit("shared.txt", [{ find: "5\n", replace: "five\n" }]);
              }),
            }),
          ],
        }),
        phase("end", {
          dependsOn: ["left", "right"],
          personas: [
            persona("d", {
              run: place.work("d", async ({ workspace }) => ({
                text: await workspace.readText("shared.txt"),
              })),
            }),
          ],
        }),
      ],
    });

  it("gives a phase only the files of its dependencies, and merges branches", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(diamond(place), { brief: "a shop" });
    const { status, results } = await session.result();
    expect(status).toBe("completed");
    expect(results["end"]?.["d"]?.outputs).toEqual({ text: "one\n2\n3\n4\nfive\n" });
    expect(place.ran).toEqual(["a", "b", "c", "d"]);
  });
});

describe("review", () => {
  it("parks after the named phases, refuses to resume without a review, and resumes when approved", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(threePhases(place), { brief: "a shop" });
    const parked = { status: "parked", reason: "review" };
    expect(await maestro.executeMixed(id, { pauseAfter: ["requirements", "design"] })).toMatchObject(parked);
    expect(await maestro.executeBatch(id)).toMatchObject(parked);
    expect(place.ran).toEqual(["analyst"]);
    await maestro.approve(id);
    expect(await maestro.show(id)).toMatchObject({ status: "paused" });
    expect(await maestro.executeBatch(id)).toMatchObject(parked);
    expect(place.ran).toEqual(["analyst", "architect"]);
    await maestro.approve(id);
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
  });

  it("runs a rejected phase again with the note, on the files it left, as a new sealed revision", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const notes: (readonly string[])[] = [];
    const team = defineTeam("reviewed", {
      phases: [
        phase("design", {
          review: true,
          personas: [
            persona("architect", {
              run: place.work("architect", async (context) => {
                notes.push(context.notes);
                const before = context.workspace.list();
                await context.workspace.write(`draft-${before.length + 1}.md`, "a draft\n");
              }),
            }),
          ],
        }),
        phase("build", { personas: [persona("developer", { run: place.work("developer") })] }),
      ],
    });
    const session = await maestro.start(team, { brief: "a shop" });
    await session.result();
    await expect(maestro.reject(session.id, { note: " " })).rejects.toThrow(/needs a note/);
    await maestro.reject(session.id, { note: "simpler, please" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "parked", reason: "review" });
    expect(notes).toEqual([[], ["simpler, please"]]);
    const view = await maestro.show(session.id);
    expect(view.phases[0]).toMatchObject({ revision: 2, review: "awaiting" });
    expect(view.artifacts.map(({ path }) => path)).toEqual(["draft-1.md", "draft-2.md"]);
    const checkpoints = await maestro.checkpoints(session.id);
    expect(checkpoints.map(({ phase, revision, valid }) => [phase, revision, valid])).toEqual([
      ["init", 1, true],
      ["design", 1, true],
      ["design", 2, true],
    ]);
    await maestro.approve(session.id);
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
  });

  it("takes an edit as an approval, and later phases read the edited content", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const read: unknown[] = [];
    const team = defineTeam("edited", {
      phases: [
        phase("design", {
          review: true,
          personas: [
            persona("architect", {
              run: place.work("architect", async ({ workspace }) => {
                await workspace.write("design.md", "draft\n");
                return { tables: 3 };
              }),
            }),
          ],
        }),
        phase("build", {
          personas: [
            persona("developer", {
              run: place.work("developer", async ({ context, workspace }) => {
                read.push(
                  context.results["design"]?.["architect"]?.outputs,
                  await workspace.readText("design.md"),
                );
              }),
            }),
          ],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "a shop" });
    await session.result();
    const edits = { design: { outputs: { tables: 4 }, files: { "design.md": "final\n" } } };
    expect(await (await maestro.resume(session.id, { edits })).result()).toMatchObject({
      status: "completed",
    });
    expect(read).toEqual([{ tables: 4 }, "final\n"]);
    expect((await maestro.show(session.id)).phases[0]).toMatchObject({
      revision: 2,
      source: { kind: "edited" },
    });
    const others = { design: { outputs: { tables: 5 } } };
    await expect(async () => (await maestro.resume(session.id, { edits: others })).result()).rejects.toThrow(
      /build already used its result/,
    );
  });

  it("does not edit a phase in place that others have used, and prints the fork command", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(threePhases(place), { brief: "a shop", until: "design" });
    await session.result();
    const edits = { requirements: { outputs: { needs: 4 } } };
    await expect((await maestro.resume(session.id, { edits })).result()).rejects.toMatchObject({
      message: expect.stringMatching(/design already used its result/) as string,
      advice: expect.stringMatching(/maestro fork .* --at design --edit requirements=/) as string,
    });
  });
});
