import { describe, expect, it } from "vitest";
import { defineTeam, type Maestro, persona, phase, type Team } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

const accept = async (maestro: Maestro, id: string, team: Team) =>
  (await maestro.resume(id, { team, acceptChanges: true })).result();

/** Writes a file of its own name, and says which files it saw. */
const writer = (place: TeamPlace, name: string, { path = name, ...more }: Record<string, unknown> = {}) =>
  persona(name, {
    ...more,
    run: place.work(name, async ({ workspace }) => {
      const saw = workspace.list();
      await workspace.write(String(path), `${name}\n`);
      return { saw };
    }),
  });

/** A line of phases, each with one writer; `build` reads only what the analyst made. */
const line = (place: TeamPlace, ...names: string[]) =>
  defineTeam("line", {
    phases: names.map((name) =>
      phase(name, {
        personas: [writer(place, `p-${name}`, name === "build" ? { consumes: ["p-requirements"] } : {})],
      }),
    ),
  });

const namesOf = async (place: TeamPlace, maestro: Maestro, id: string) =>
  Object.keys(await place.filesOf(maestro, id));

describe("an accepted change of the phases", () => {
  it("that inserts a phase before a completed one adds its files, and runs no persona with the same input", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(line(place, "requirements", "build", "ship"), {
      brief: "x",
      until: "build",
    });
    await session.result();
    place.ran.length = 0;
    const team = line(place, "requirements", "security", "build", "ship");
    const { status, results } = await accept(maestro, session.id, team);
    expect(status).toBe("completed");
    expect(place.ran).toEqual(["p-security", "p-ship"]);
    const made = ["p-build", "p-requirements", "p-security"];
    expect(results["ship"]?.["p-ship"]?.outputs).toEqual({ saw: made });
    expect(await namesOf(place, maestro, session.id)).toEqual([...made, "p-ship"].toSorted());
    expect((await maestro.show(session.id)).phases[2]).toMatchObject({ name: "build", status: "reused" });
  });

  it("that removes a phase removes its files", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(line(place, "requirements", "security", "build", "ship"), {
      brief: "x",
      until: "build",
    });
    await session.result();
    place.ran.length = 0;
    const team = line(place, "requirements", "build", "ship");
    expect(await accept(maestro, session.id, team)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["p-ship"]);
    expect(await namesOf(place, maestro, session.id)).toEqual(["p-build", "p-requirements", "p-ship"]);
  });

  it("that makes a phase depend on another branch adds the files of that branch", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (...dependsOn: string[]) =>
      defineTeam("branches", {
        phases: [
          phase("a", { dependsOn: [], personas: [writer(place, "pa")] }),
          phase("b", { dependsOn: [], personas: [writer(place, "pb")] }),
          phase("c", { dependsOn, personas: [writer(place, "pc", { consumes: ["pa"] })] }),
          phase("d", { dependsOn: ["c"], personas: [writer(place, "pd")] }),
        ],
      });
    const session = await maestro.start(team("a"), { brief: "x", until: "c" });
    await session.result();
    place.ran.length = 0;
    const { results } = await accept(maestro, session.id, team("a", "b"));
    expect(place.ran).toEqual(["pd"]);
    expect(results["d"]?.["pd"]?.outputs).toEqual({ saw: ["pa", "pb", "pc"] });
  });

  it("that names the same dependencies in another order runs no persona again", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (...dependsOn: string[]) =>
      defineTeam("same", {
        phases: [
          phase("a", { dependsOn: [], personas: [writer(place, "pa")] }),
          phase("b", { dependsOn: [], personas: [writer(place, "pb")] }),
          phase("c", { dependsOn, personas: [writer(place, "pc")] }),
          phase("d", { dependsOn: ["a"], personas: [writer(place, "pd")] }),
        ],
      });
    const session = await maestro.start(team("a", "b"), { brief: "x", until: "c" });
    await session.result();
    place.ran.length = 0;
    expect(await accept(maestro, session.id, team("b", "a"))).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual(["pd"]);
  });

  it("that swaps the order of branches keeps the other version of a file", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const branch = (name: string) =>
      phase(name, { dependsOn: [], personas: [writer(place, `p${name}`, { path: "x.md" })] });
    const team = (...names: string[]) =>
      defineTeam("turned", {
        phases: [
          ...names.map(branch),
          phase("c", { dependsOn: ["a", "b"], personas: [writer(place, "pc")] }),
          phase("d", { dependsOn: ["c"], personas: [writer(place, "pd")] }),
        ],
      });
    const session = await maestro.start(team("a", "b"), { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "parked", reason: "review" });
    await maestro.approve(session.id);
    expect(await accept(maestro, session.id, team("b", "a"))).toMatchObject({
      status: "parked",
      reason: "review",
    });
    expect(await place.filesOf(maestro, session.id)).toMatchObject({ "x.md": "pb\n" });
  });
});

describe("a phase that was given from outside", () => {
  it("passes on the files of phases that were inserted before it since", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const given = { requirements: { files: { "req.md": "r" } }, build: { files: { "code.js": "c" } } };
    const session = await maestro.start(line(place, "requirements", "build", "ship", "end"), {
      brief: "x",
      given,
      until: "ship",
    });
    await session.result();
    place.ran.length = 0;
    const team = line(place, "requirements", "security", "build", "ship", "end");
    const { status, results } = await accept(maestro, session.id, team);
    expect(status).toBe("completed");
    expect(place.ran).toEqual(["p-security", "p-ship", "p-end"]);
    const made = ["code.js", "p-security", "req.md"];
    expect(results["ship"]?.["p-ship"]?.outputs).toEqual({ saw: made });
    expect(results["end"]?.["p-end"]?.outputs).toEqual({ saw: [...made.slice(0, 2), "p-ship", "req.md"] });
    expect((await maestro.show(session.id)).phases[2]?.source).toMatchObject({ kind: "given" });
    const fork = await maestro.fork(session.id, { at: "ship" });
    place.ran.length = 0;
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual([]);
    expect(await place.filesOf(maestro, fork.id)).toEqual(await place.filesOf(maestro, session.id));
  });

  it("passes on the files of an earlier phase that runs in the session, also when it is the last", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const given = { build: { files: { "code.js": "c" } } };
    const start = async (...names: string[]) => {
      const session = await maestro.start(line(place, ...names), { brief: "x", given });
      expect(await session.result()).toMatchObject({ status: "completed" });
      return namesOf(place, maestro, session.id);
    };
    expect(await start("requirements", "build")).toEqual(["code.js", "p-requirements"]);
    expect(await start("requirements", "build", "ship")).toEqual(["code.js", "p-requirements", "p-ship"]);
  });
});

describe("a phase in pauseAfter", () => {
  it("may be removed or renamed: the changes mention it, and the session continues", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const { id } = await maestro.create(line(place, "requirements", "security", "build", "ship"), {
      brief: "x",
    });
    await maestro.executePhase(id, "requirements");
    await maestro.executeMixed(id, { pauseAfter: ["security", "build"] });
    await maestro.approve(id);
    const renamed = line(place, "requirements", "audit", "build", "ship");
    const gone = /the session no longer pauses after security/;
    await expect(maestro.resume(id, { team: renamed }).then((session) => session.result())).rejects.toThrow(
      gone,
    );
    expect(await accept(maestro, id, renamed)).toMatchObject({ status: "parked", reason: "review" });
    const { phases } = await maestro.show(id);
    expect(phases.map(({ name, review }) => `${name} ${review}`)).toEqual([
      "requirements none",
      "audit none",
      "build awaiting",
      "ship none",
    ]);
    await maestro.approve(id);
    expect(await maestro.executeBatch(id)).toMatchObject({ status: "completed" });
  });

  it("pauses the session again when it returns to the team", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const team = (...names: string[]) =>
      defineTeam("line", {
        phases: names.map((name) =>
          phase(name, { review: name === "ship", personas: [writer(place, `p-${name}`)] }),
        ),
      });
    const { id } = await maestro.create(team("requirements", "security", "ship"), { brief: "x" });
    await maestro.executeMixed(id, { pauseAfter: ["requirements", "security"] });
    await maestro.approve(id);
    await accept(maestro, id, team("requirements", "ship"));
    await maestro.approve(id);
    await accept(maestro, id, team("requirements", "security", "ship"));
    const { phases } = await maestro.show(id);
    expect(phases.map(({ name, review }) => `${name} ${review}`)).toEqual([
      "requirements approved",
      "security awaiting",
      "ship none",
    ]);
  });
});
