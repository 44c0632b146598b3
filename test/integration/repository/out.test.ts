import { existsSync, mkdtempSync, readFileSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, onTestFinished, test } from "vitest";
import { defineTeam, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const lines = (...names: readonly string[]) => names.map((name) => `${name}\n`).join("");

/** Two phases; the second one waits for a person. */
const team = defineTeam("worker", {
  phases: [
    phase("first", {
      review: true,
      personas: [step("one", (workspace) => workspace.write("a.txt", lines("1", "2", "3", "4", "first")))],
    }),
    phase("second", {
      dependsOn: ["first"],
      personas: [
        step("two", async (workspace) => {
          await workspace.write("a.txt", lines("1", "2", "3", "4", "second"));
          await workspace.write("new/b.txt", "b\n");
          await workspace.remove("gone.txt");
        }),
      ],
    }),
  ],
});

function step(name: string, work: (workspace: PersonaContext["workspace"]) => Promise<void>) {
  return persona(name, {
    run: async ({ workspace }) => {
      await work(workspace);
      return { summary: "done" };
    },
  });
}

async function parkedAfterFirst() {
  const repository = new TestRepository()
    .write("a.txt", lines("1", "2", "3", "4", "5"))
    .write("gone.txt", "x")
    .write("plain.txt", "plain\n")
    .link("link", "plain.txt");
  repository.commit();
  const maestro = await new TeamPlace().open({ teams: [team] });
  const session = await maestro.start(team, { brief: "change", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "parked" });
  const finish = async () => {
    await maestro.approve(session.id);
    expect(await (await maestro.resume(session.id)).result()).toMatchObject({ status: "completed" });
  };
  const folder = mkdtempSync(join(tmpdir(), "maestro-out-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return { repository, maestro, id: session.id, finish, folder: join(folder, "out") };
}

describe("files of a repository, written to its own checkout,", () => {
  test("replace those that are as they were, and nothing is put beside them", async () => {
    const { repository, maestro, id, finish } = await parkedAfterFirst();
    await finish();
    expect(await maestro.writeFiles(id, repository.folder)).toEqual({
      written: ["a.txt", "new/b.txt"],
      removed: ["gone.txt"],
      kept: [],
      conflicts: [],
    });
    expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe(
      " M a.txt\n D gone.txt\n?? new/b.txt",
    );
  });

  test("replace what an earlier phase of the session left there", async () => {
    const { repository, maestro, id, finish } = await parkedAfterFirst();
    expect(await maestro.writeFiles(id, repository.folder)).toMatchObject({ written: ["a.txt"] });
    await finish();
    expect(await maestro.writeFiles(id, repository.folder)).toMatchObject({ conflicts: [] });
    expect(readFileSync(repository.path("a.txt"), "utf8")).toBe(lines("1", "2", "3", "4", "second"));
    expect(await maestro.apply(id), "apply has nothing left to do").toMatchObject({ written: [] });
  });

  test("are merged with the changes of a person, and written not at all where they clash", async () => {
    const { repository, maestro, id, finish } = await parkedAfterFirst();
    await finish();
    repository.write("a.txt", lines("1", "2", "3", "4", "mine"));
    const before = repository.git("status", "--porcelain", "--untracked-files=all");
    const refused = await maestro.writeFiles(id, repository.folder);
    expect(refused).toMatchObject({ written: [], removed: [], kept: [], conflicts: [{ path: "a.txt" }] });
    expect(repository.git("status", "--porcelain", "--untracked-files=all")).toBe(before);
    repository.write("a.txt", lines("one", "2", "3", "4", "5"));
    expect(await maestro.writeFiles(id, repository.folder)).toMatchObject({ conflicts: [] });
    expect(readFileSync(repository.path("a.txt"), "utf8")).toBe(lines("one", "2", "3", "4", "second"));
  });
});

describe("files of a repository, written to a folder of their own,", () => {
  test("are all there, and follow the session when it continues, links and removed files too", async () => {
    const { maestro, id, finish, folder } = await parkedAfterFirst();
    const first = await maestro.writeFiles(id, folder);
    expect(first.written).toEqual(["a.txt", "gone.txt", "link", "plain.txt"]);
    await finish();
    expect(await maestro.writeFiles(id, folder)).toEqual({
      written: ["a.txt", "new/b.txt"],
      removed: ["gone.txt"],
      kept: [],
      conflicts: [],
    });
    expect(readlinkSync(join(folder, "link"))).toBe("plain.txt");
    expect(await maestro.writeFiles(id, folder)).toMatchObject({ written: [], removed: [], conflicts: [] });
  });

  test("follow a fork that goes another way", async () => {
    const { maestro, id, finish, folder } = await parkedAfterFirst();
    await finish();
    await maestro.writeFiles(id, folder);
    const edits = { second: { files: { "a.txt": "forked\n", "new/b.txt": null, "c.txt": "c" } } };
    const fork = await maestro.fork(id, { at: "second", edits });
    await (await maestro.resume(fork.id)).result();
    expect(await maestro.writeFiles(fork.id, folder)).toEqual({
      written: ["a.txt", "c.txt"],
      removed: ["new/b.txt"],
      kept: [],
      conflicts: [],
    });
    await maestro.writeFiles(id, folder);
    expect(readFileSync(join(folder, "a.txt"), "utf8")).toBe(lines("1", "2", "3", "4", "second"));
    expect(existsSync(join(folder, "c.txt"))).toBe(false);
  });

  test("keep a person's change of another place, and a file that only the person has", async () => {
    const { maestro, id, finish, folder } = await parkedAfterFirst();
    await maestro.writeFiles(id, folder);
    writeFileSync(join(folder, "plain.txt"), "mine\n");
    writeFileSync(join(folder, "note.txt"), "note\n");
    rmSync(join(folder, "link"));
    await finish();
    expect(await maestro.writeFiles(id, folder)).toMatchObject({ conflicts: [] });
    expect(readFileSync(join(folder, "plain.txt"), "utf8")).toBe("mine\n");
    expect(readFileSync(join(folder, "note.txt"), "utf8")).toBe("note\n");
    expect(readlinkSync(join(folder, "link"))).toBe("plain.txt");
  });
});
