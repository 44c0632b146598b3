import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "./place.ts";

type Write = Readonly<Record<string, string>>;

function team(place: TeamPlace, phases: readonly (readonly [string, readonly string[], Write])[]) {
  return defineTeam("graph", {
    phases: phases.map(([name, dependsOn, files]) =>
      phase(name, {
        dependsOn,
        personas: [
          persona(`p-${name}`, {
            run: place.work(`p-${name}`, async ({ workspace }: PersonaContext) => {
              for (const [path, text] of Object.entries(files)) await workspace.write(path, text);
            }),
          }),
        ],
      }),
    ),
  });
}

async function outOf(place: TeamPlace, phases: Parameters<typeof team>[1]) {
  const maestro = await place.open();
  const session = await maestro.start(team(place, phases), { brief: "x" });
  expect(await session.result()).toMatchObject({ status: "completed" });
  const folder = join(place.stateDir, "out");
  await maestro.writeFiles(session.id, folder);
  const shown = await maestro.show(session.id);
  return { maestro, id: session.id, folder, shown };
}

const filesIn = (folder: string) =>
  readdirSync(folder)
    .filter((name) => !name.startsWith("."))
    .toSorted();

describe("the files of a session", () => {
  it("include all branches of a graph", async () => {
    const place = new TeamPlace();
    const { folder, shown } = await outOf(place, [
      ["a", [], { "a.txt": "a" }],
      ["b", ["a"], { "b.txt": "b" }],
      ["c", ["a"], { "c.txt": "c" }],
    ]);
    expect(filesIn(folder)).toEqual(["a.txt", "b.txt", "c.txt"]);
    expect(shown.artifacts.map(({ path, persona }) => [path, persona])).toEqual([
      ["a.txt", "p-a"],
      ["b.txt", "p-b"],
      ["c.txt", "p-c"],
    ]);
  });

  it("are merged line by line where branches changed the same file, and can be read", async () => {
    const place = new TeamPlace();
    const { maestro, id, folder, shown } = await outOf(place, [
      ["a", [], { "x.txt": "1\n2\n3\n4\n5\n" }],
      ["b", ["a"], { "x.txt": "one\n2\n3\n4\n5\n" }],
      ["c", ["a"], { "x.txt": "1\n2\n3\n4\nfive\n" }],
    ]);
    expect(readFileSync(join(folder, "x.txt"), "utf8")).toBe("one\n2\n3\n4\nfive\n");
    const [file] = shown.artifacts;
    expect(String(await maestro.artifact(id, file?.sha256 ?? ""))).toBe("one\n2\n3\n4\nfive\n");
  });

  it("are those of the phase that runs last, in any order of declaration", async () => {
    const place = new TeamPlace();
    const { folder, shown } = await outOf(place, [
      ["ship", ["build"], { "version.txt": "shipped" }],
      ["build", [], { "version.txt": "built", "build.txt": "b" }],
    ]);
    expect(filesIn(folder)).toEqual(["build.txt", "version.txt"]);
    expect(readFileSync(join(folder, "version.txt"), "utf8")).toBe("shipped");
    expect(shown.artifacts.find(({ path }) => path === "version.txt")?.persona).toBe("p-ship");
  });

  it("can be written as of any checkpoint, including one that was replaced since", async () => {
    const place = new TeamPlace();
    const { maestro, id, folder } = await outOf(place, [
      ["a", [], { "x.txt": "of a" }],
      ["b", ["a"], { "x.txt": "of b" }],
    ]);
    const edited = await maestro.resume(id, { edits: { b: { files: { "x.txt": "of a person" } } } });
    await edited.result();
    const textAt = async (at: { phase: string; revision?: number }) => {
      const out = `${folder}-${at.phase}-${at.revision ?? 0}`;
      await maestro.writeFiles(id, out, at);
      return readFileSync(join(out, "x.txt"), "utf8");
    };
    expect(await textAt({ phase: "a" })).toBe("of a");
    expect(await textAt({ phase: "b" })).toBe("of a person");
    expect(await textAt({ phase: "b", revision: 1 })).toBe("of b");
    await expect(textAt({ phase: "bb" })).rejects.toThrow(/There is no phase "bb"/);
    await expect(textAt({ phase: "b", revision: 7 })).rejects.toThrow(/Revision 7 of phase b/);
  });
});
