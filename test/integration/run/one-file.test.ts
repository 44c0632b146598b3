import { describe, expect, it } from "vitest";
import { defineTeam, phase } from "../../../src/index.ts";
import { type Act, counted, sh, write } from "./counted-persona.ts";
import { TeamPlace } from "./place.ts";

describe("personas that all write to one file", () => {
  const names = (count: number) => Array.from({ length: count }, (_, place) => `P${place}`);
  const addsLine =
    (name: string): Act =>
    async ({ workspace }) => {
      const now = workspace.list().includes("LOG.md") ? await workspace.readText("LOG.md") : "";
      if (!now.includes(`${name}\n`)) await workspace.write("LOG.md", `${now}${name}\n`);
      await workspace.write(`${name}.txt`, name);
    };

  it("run again one after the other, each once, in any number", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const members = names(8).map((name) => counted(place, name, addsLine(name)));
    const team = defineTeam("log", { parallel: 8, phases: [phase("p", { personas: members })] });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toHaveLength(15);
    expect(place.ran.slice(8)).toEqual(names(8).slice(1));
    const files = await place.filesOf(maestro, session.id);
    expect(files["LOG.md"]).toBe(names(8).join("\n").concat("\n"));
    expect(Object.keys(files)).toHaveLength(9);
    const { artifacts } = await maestro.show(session.id);
    expect(artifacts.find(({ path }) => path === "LOG.md")).toMatchObject({ persona: "P7" });
  });

  it("get the names of the personas merged before them, and continue after a pause", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const told: string[] = [];
    const pause = { id: "" };
    const members = names(4).map((name) =>
      counted(place, name, async (context, times) => {
        told.push(...context.failures.map(({ message }) => `${name}: ${message}`));
        await addsLine(name)(context, times);
        if (name === "P1" && times === 2) await maestro.pause(pause.id);
      }),
    );
    const team = defineTeam("log", { phases: [phase("p", { personas: members })] });
    const session = await maestro.create(team, { brief: "x" });
    pause.id = session.id;
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "paused" });
    expect(await maestro.executeBatch(session.id)).toMatchObject({ status: "completed" });
    expect(place.ran.filter((name) => name === "P0")).toHaveLength(1);
    expect(place.ran.filter((name) => name === "P3")).toHaveLength(2);
    expect((await place.filesOf(maestro, session.id))["LOG.md"]).toBe("P0\nP1\nP2\nP3\n");
    expect(told.find((text) => text.startsWith("P1"))).toMatch(/clash with those of P0: LOG.md/);
    expect(told.find((text) => text.startsWith("P3"))).toMatch(/clash with those of P0, P1, P2: LOG.md/);
  });

  it("but in different places are merged, and the file belongs to the last of them", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const lines = Array.from({ length: 9 }, (_, line) => `${line}\n`);
    const changes = (name: string, line: number, other: string) =>
      counted(place, name, async ({ workspace }, times) => {
        await workspace.edit("shared.txt", [{ find: `${line}\n`, replace: `${line} ${name}\n` }]);
        if (times === 1) await workspace.write(other, name);
      });
    const team = defineTeam("places", {
      phases: [
        phase("o", { personas: [counted(place, "O", write({ "shared.txt": lines.join("") }))] }),
        phase("p", {
          personas: [changes("A", 0, "x.txt"), changes("B", 4, "x.txt"), changes("C", 8, "c.txt")],
        }),
      ],
    });
    const session = await maestro.start(team, { brief: "x" });
    await session.result();
    const { artifacts } = await maestro.show(session.id);
    expect(artifacts.find(({ path }) => path === "shared.txt")).toMatchObject({ persona: "C" });
  });

  it("lose nothing when their checks send them back together and their corrections clash", async () => {
    const place = new TeamPlace();
    const maestro = await place.open();
    const all = names(3);
    const corrects = (name: string) =>
      counted(
        place,
        name,
        (context, times) =>
          times === 1 ? write({ [`${name}.txt`]: name })(context, times) : addsLine(name)(context, times),
        // Passes alone; with the files of the others it asks for its line in the log.
        { contract: sh("own", `test $(ls P*.txt | wc -l) = 1 || grep -q ${name} LOG.md`) },
      );
    const team = defineTeam("corrections", { phases: [phase("p", { personas: all.map(corrects) })] });
    const session = await maestro.start(team, { brief: "x" });
    expect(await session.result()).toMatchObject({ status: "completed" });
    expect(place.ran).toHaveLength(8);
    expect(await place.filesOf(maestro, session.id)).toEqual({
      "LOG.md": "P0\nP1\nP2\n",
      "P0.txt": "P0",
      "P1.txt": "P1",
      "P2.txt": "P2",
    });
  });
});
