import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

/** Two requirements; backend and database rest on one, the page on the other, the tester on everything. */
function team(place: TeamPlace) {
  const say = (name: string) => (context: PersonaContext) =>
    context.step(name, () => {
      place.ran.push(`${name}: step`);
      return { from: JSON.stringify(Object.values(context.context.results)) };
    });
  const write = (name: string, path: string) =>
    place.work(name, async ({ workspace, ...context }) => {
      await workspace.write(path, `${name}\n`);
      return say(name)({ workspace, ...context });
    });
  return defineTeam("shop", {
    phases: [
      phase("requirements", {
        personas: [
          persona("api_analyst", { run: write("api_analyst", "docs/api.md") }),
          persona("page_analyst", { run: write("page_analyst", "docs/page.md") }),
        ],
      }),
      phase("build", {
        personas: [
          persona("backend", { consumes: ["api_analyst"], run: write("backend", "src/api.js") }),
          persona("database", {
            consumes: ["api_analyst", "backend"],
            run: write("database", "src/tables.sql"),
          }),
          persona("frontend", { consumes: ["page_analyst"], run: write("frontend", "src/page.js") }),
        ],
      }),
      phase("testing", { personas: [persona("tester", { run: write("tester", "test/all.js") })] }),
    ],
  });
}

async function finished(place: TeamPlace) {
  const maestro = await place.open();
  const session = await maestro.start(team(place), { brief: "a shop" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  place.ran.length = 0;
  return { maestro, session };
}

describe("a fork", () => {
  it("with one edited requirement runs exactly the personas that depend on it and reuses the rest", async () => {
    const place = new TeamPlace();
    const { maestro, session } = await finished(place);
    const edits = { requirements: { outputs: { api_analyst: { from: "another need" } } } };
    const fork = await maestro.fork(session.id, { at: "build", edits });
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    expect(place.ran.filter((name) => !name.endsWith("step"))).toEqual(["backend", "database", "tester"]);
    const view = await maestro.show(fork.id);
    expect(view.phases.map(({ personas }) => personas.map(({ name, status }) => [name, status]))).toEqual([
      [
        ["api_analyst", "reused"],
        ["page_analyst", "reused"],
      ],
      [
        ["backend", "completed"],
        ["database", "completed"],
        ["frontend", "reused"],
      ],
      [["tester", "completed"]],
    ]);
    expect(view.artifacts.map(({ path }) => path)).toEqual([
      "docs/api.md",
      "docs/page.md",
      "src/api.js",
      "src/page.js",
      "src/tables.sql",
      "test/all.js",
    ]);
  });

  it("with one edited file runs exactly the personas that see it", async () => {
    const place = new TeamPlace();
    const { maestro, session } = await finished(place);
    const edits = { requirements: { files: { "docs/page.md": "another page\n" } } };
    const fork = await maestro.fork(session.id, { at: "build", edits });
    await maestro.executeBatch(fork.id);
    expect(place.ran.filter((name) => !name.endsWith("step"))).toEqual(["frontend", "tester"]);
  });

  it("without an edit runs nothing, and with fresh everything from its phase on", async () => {
    const place = new TeamPlace();
    const { maestro, session } = await finished(place);
    const same = await maestro.fork(session.id, { at: "build" });
    expect(await maestro.executeBatch(same.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual([]);
    const fresh = await maestro.fork(session.id, { at: "build", fresh: true });
    expect(await maestro.executeBatch(fresh.id)).toMatchObject({ status: "completed" });
    expect(place.ran.filter((name) => !name.endsWith("step")).sort()).toEqual(
      ["backend", "database", "frontend", "tester"].sort(),
    );
  });

  it("does not need its parent: that can be pruned, and a fork of the fork still reuses everything", async () => {
    const place = new TeamPlace();
    const { maestro, session } = await finished(place);
    const fork = await maestro.fork(session.id, { at: "build" });
    await maestro.prune({ olderThanMs: 0, keep: 0 });
    await expect(maestro.show(session.id)).rejects.toThrow(/no session/);
    expect(await maestro.executeBatch(fork.id)).toMatchObject({ status: "completed" });
    const again = await maestro.fork(fork.id, { at: "testing" });
    expect(await maestro.executeBatch(again.id)).toMatchObject({ status: "completed" });
    expect(place.ran).toEqual([]);
  });

  it("at a phase with incomplete dependencies is refused before it exists", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const session = await maestro.start(team(place), { brief: "a shop", until: "requirements" });
    await session.result();
    await expect(maestro.fork(session.id, { at: "testing" })).rejects.toThrow(
      /no accepted result of phase build/,
    );
    await expect(maestro.fork(session.id, { at: "tests" })).rejects.toThrow(/no phase "tests"/);
    expect(await maestro.sessions()).toHaveLength(1);
  });
});
