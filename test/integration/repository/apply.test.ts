import { existsSync, lstatSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { defineTeam, NotTrusted, type PersonaContext, persona, phase } from "../../../src/index.ts";
import { TeamPlace } from "../run/place.ts";
import { TestRepository } from "./test-repository.ts";

const team = (work: (ctx: PersonaContext) => Promise<void>) =>
  defineTeam("worker", {
    phases: [
      phase("build", {
        personas: [
          persona("author", {
            run: async (ctx) => {
              await work(ctx);
              return { summary: "done" };
            },
          }),
        ],
      }),
    ],
  });

async function changed(repository: TestRepository, work: (ctx: PersonaContext) => Promise<void>) {
  repository.commit();
  const maestro = await new TeamPlace().open();
  const session = await maestro.start(team(work), { brief: "change", source: { git: repository.folder } });
  expect(await session.result()).toMatchObject({ status: "completed" });
  const read = (name: string) => readFileSync(join(repository.folder, name), "utf8");
  return { maestro, id: session.id, read };
}

const lines = (...names: readonly string[]) => names.map((name) => `${name}\n`).join("");

describe("changes are applied", () => {
  test("to files that are as they were: written, made executable, removed, with empty folders", async () => {
    const repository = new TestRepository()
      .write("a.txt", "a")
      .write("run.sh", "#!/bin/sh\n")
      .write("deep/er/gone.txt", "x")
      .link("link", "a.txt");
    const { maestro, id, read } = await changed(repository, async ({ workspace }) => {
      await workspace.write("a.txt", "changed");
      await workspace.write("run.sh", "#!/bin/sh\n", { executable: true });
      await workspace.write("new/file.txt", "new");
      await workspace.remove("deep/er/gone.txt");
    });
    expect(await maestro.apply(id)).toEqual({
      written: ["a.txt", "new/file.txt", "run.sh"],
      removed: ["deep/er/gone.txt"],
      conflicts: [],
    });
    expect([read("a.txt"), read("new/file.txt")]).toEqual(["changed", "new"]);
    expect(lstatSync(join(repository.folder, "run.sh")).mode & 0o111).not.toBe(0);
    expect(existsSync(join(repository.folder, "deep"))).toBe(false);
    expect(readlinkSync(join(repository.folder, "link"))).toBe("a.txt");
    expect(await maestro.apply(id), "a second time nothing is left to do").toEqual({
      written: [],
      removed: [],
      conflicts: [],
    });
  });

  test("and a file keeps who may read and write it, whatever becomes of its x bit", async () => {
    const repository = new TestRepository()
      .write("private.txt", "a", 0o600)
      .write("group.txt", "a", 0o664)
      .write("run.sh", "a", 0o700)
      .write("plain.sh", "a", 0o640);
    const { maestro, id } = await changed(repository, async ({ workspace }) => {
      await workspace.write("private.txt", "changed");
      await workspace.write("group.txt", "changed");
      await workspace.write("run.sh", "changed", { executable: false });
      await workspace.write("plain.sh", "changed", { executable: true });
    });
    await maestro.apply(id);
    const rights = ["private.txt", "group.txt", "run.sh", "plain.sh"].map(
      (name) => lstatSync(join(repository.folder, name)).mode & 0o777,
    );
    expect(rights).toEqual([0o600, 0o664, 0o600, 0o750]);
  });

  test("by lines to a file that was changed elsewhere since", async () => {
    const repository = new TestRepository().write("a.txt", lines("1", "2", "3", "4", "5"));
    const { maestro, id, read } = await changed(repository, async ({ workspace }) => {
      await workspace.edit("a.txt", [{ find: "5\n", replace: "five\n" }]);
    });
    repository.write("a.txt", lines("one", "2", "3", "4", "5"));
    expect(await maestro.apply(id)).toMatchObject({ written: ["a.txt"], conflicts: [] });
    expect(read("a.txt")).toBe(lines("one", "2", "3", "4", "five"));
  });

  test("to another folder", async () => {
    const repository = new TestRepository().write("a.txt", "a");
    const { maestro, id } = await changed(repository, async ({ workspace }) => workspace.write("b.txt", "b"));
    const clone = join(repository.folder, "clone");
    repository.git("clone", "--quiet", repository.folder, clone);
    await maestro.apply(id, { to: clone });
    expect(readFileSync(join(clone, "b.txt"), "utf8")).toBe("b");
    expect(existsSync(join(repository.folder, "b.txt"))).toBe(false);
  });
});

describe("a conflict", () => {
  const inConflict = async () => {
    const repository = new TestRepository()
      .write("a.txt", lines("1", "2", "3"))
      .write("clean.txt", "clean")
      .write("gone.txt", "x");
    const all = await changed(repository, async ({ workspace }) => {
      await workspace.edit("a.txt", [{ find: "2\n", replace: "theirs\n" }]);
      await workspace.write("clean.txt", "changed");
      await workspace.remove("gone.txt");
    });
    repository.write("a.txt", lines("1", "mine", "3")).write("gone.txt", "changed by hand");
    return { ...all, repository };
  };

  test("is listed and nothing is written", async () => {
    const { maestro, id, read } = await inConflict();
    const { written, removed, conflicts } = await maestro.apply(id);
    expect({ written, removed }).toEqual({ written: [], removed: [] });
    expect(conflicts.map(({ path, isMarked }) => [path, isMarked])).toEqual([
      ["a.txt", false],
      ["gone.txt", false],
    ]);
    expect(conflicts.map(({ reason }) => reason.split("\n")[0])).toEqual([
      '"a.txt": you and the session changed the same place differently (you: line 2; the session: line 2). Yours is unchanged.',
      '"gone.txt": you changed it, and the session removed it. Yours is unchanged.',
    ]);
    expect([read("a.txt"), read("clean.txt"), read("gone.txt")]).toEqual([
      lines("1", "mine", "3"),
      "clean",
      "changed by hand",
    ]);
  });

  test("with force leaves both versions between markers, and the other files are written", async () => {
    const { maestro, id, read } = await inConflict();
    const { written, conflicts } = await maestro.apply(id, { force: true });
    expect(written).toEqual(["a.txt", "clean.txt"]);
    expect(conflicts[0]?.reason).toContain("The file has both versions, between markers.");
    expect(conflicts.map(({ path, isMarked }) => [path, isMarked])).toEqual([
      ["a.txt", true],
      ["gone.txt", false],
    ]);
    expect(read("a.txt")).toBe(
      lines("1", "<<<<<<< yours", "mine", "=======", "theirs", ">>>>>>> maestro", "3"),
    );
    expect([read("clean.txt"), read("gone.txt")]).toEqual(["changed", "changed by hand"]);
  });

  test("with a link or a folder in the way writes nothing behind it", async () => {
    const repository = new TestRepository().write("dir/a.txt", "a").write("b.txt", "b");
    const { maestro, id } = await changed(repository, async ({ workspace }) => {
      await workspace.write("dir/a.txt", "changed");
      await workspace.write("b.txt", "changed");
    });
    const outside = new TestRepository().write("a.txt", "a");
    repository.git("rm", "-r", "--quiet", "dir", "b.txt");
    repository.link("dir", outside.folder).write("b.txt/inner", "x");
    const { conflicts } = await maestro.apply(id, { force: true });
    expect(conflicts.map(({ path }) => path).sort()).toEqual(["b.txt", "dir/a.txt"]);
    expect(readFileSync(join(outside.folder, "a.txt"), "utf8")).toBe("a");
  });
});

test("an imported session changes no folder that the import names", async () => {
  const repository = new TestRepository().write("a.txt", "a");
  const { maestro, id } = await changed(repository, async ({ workspace }) => workspace.write("b.txt", "b"));
  const file = join(repository.folder, ".git", "export");
  await maestro.exportCheckpoints(id, file);
  const other = await new TeamPlace().open();
  await other.importCheckpoints(file);
  await expect(other.apply(id, { to: repository.folder })).rejects.toThrow(NotTrusted);
  await other.ensureTrusted(id, { trust: true });
  await expect(other.apply(id)).rejects.toThrow(/was imported/);
  await expect(other.branch(id, { branch: "out" })).rejects.toThrow(/was imported/);
  expect(repository.git("status", "--porcelain")).toBe("");
  expect(await other.apply(id, { to: repository.folder })).toMatchObject({ written: ["b.txt"] });
});

test.each([".git", ".git/hooks", ".git/new/er", "bare.git", "link/hooks"])(
  "changes are not written into git's own folder %s, where a file could be a hook",
  async (name) => {
    const repository = new TestRepository().write("a.txt", "a");
    const { maestro, id } = await changed(repository, async ({ workspace }) => {
      await workspace.write("hooks/post-commit", "#!/bin/sh\n", { executable: true });
      await workspace.write("post-commit", "#!/bin/sh\n", { executable: true });
    });
    repository.git("init", "--quiet", "--bare", "bare.git");
    repository.link("link", ".git");
    const to = join(repository.folder, name);
    const refused = /is a folder of git itself/;
    await expect(maestro.apply(id, { to })).rejects.toThrow(refused);
    await expect(maestro.apply(id, { to, force: true })).rejects.toThrow(refused);
    await expect(maestro.writeFiles(id, to)).rejects.toThrow(refused);
    const found = readdirSync(repository.folder, { recursive: true, encoding: "utf8" });
    expect(found.filter((path) => path.endsWith("post-commit"))).toEqual([]);
  },
);
