import { constants, mkdirSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { OpenFolder } from "../../../src/workspace/open-folder.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

const ways = [
  ["by descriptor, as on Linux", { isAnchored: true }],
  ["by path, as elsewhere", { isAnchored: false }],
] as const;

describe.each(ways)("a folder held open %s", (_, way) => {
  async function place() {
    const directory = temporaryDirectory();
    const outside = temporaryDirectory();
    writeFileSync(join(outside, "file"), "outside");
    mkdirSync(join(directory, "folder"));
    writeFileSync(join(directory, "folder", "file"), "inside");
    return { directory, outside, at: (...names: string[]) => join(directory, ...names) };
  }

  test("reads what is in it, one folder after the other", async () => {
    const { directory } = await place();
    await using root = await OpenFolder.open(directory, way);
    await using folder = await root.folder("folder");
    await using file = await folder.file("file", constants.O_RDONLY);
    expect(await file.readFile("utf8")).toBe("inside");
    expect((await root.list(10)).map(({ name, kind }) => [name.toString(), kind])).toEqual([
      ["folder", "folder"],
    ]);
  });

  test("follows no link, neither as folder nor as file nor at its own end", async () => {
    const { directory, outside, at } = await place();
    symlinkSync(outside, at("link"));
    symlinkSync(join(outside, "file"), at("file"));
    await using root = await OpenFolder.open(directory, way);
    await expect(root.folder("link")).rejects.toThrow(/ELOOP|ENOTDIR/);
    await expect(root.file("file", constants.O_RDONLY)).rejects.toThrow("ELOOP");
    await expect(OpenFolder.open(at("link"), way)).rejects.toThrow(/ELOOP|ENOTDIR/);
  });

  test("is not led outside by a link that takes its place after it was opened", async () => {
    const { directory, outside, at } = await place();
    await using root = await OpenFolder.open(directory, way);
    await using folder = await root.folder("folder");
    renameSync(at("folder"), at("moved"));
    symlinkSync(outside, at("folder"));
    const content = await folder.file("file", constants.O_RDONLY).then(
      async (file) => {
        await using opened = file;
        return opened.readFile("utf8");
      },
      (error: NodeJS.ErrnoException) => error.code,
    );
    expect(content).toBe(way.isAnchored ? "inside" : "ESTALE");
  });

  test.each(["", ".", "..", "a/b", "/etc/passwd", "a\0b"])(
    "refuses %j, which is not a single name",
    async (name) => {
      await using root = await OpenFolder.open(temporaryDirectory(), way);
      expect(() => root.at(name)).toThrow(TypeError);
      await expect(root.file(name, constants.O_RDONLY)).rejects.toThrow(TypeError);
    },
  );
});
