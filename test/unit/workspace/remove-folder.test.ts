import { spawnSync } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { removeFolder } from "../../../src/workspace/remove-folder.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

test("removes files of any name, links without what they point to, and folders without rights", async () => {
  const outside = join(temporaryDirectory(), "outside.txt");
  writeFileSync(outside, "outside");
  const directory = join(temporaryDirectory(), "gone");
  mkdirSync(join(directory, "a", "b"), { recursive: true });
  writeFileSync(Buffer.concat([Buffer.from(`${directory}/`), Buffer.from([0xff, 0xfe])]), "");
  symlinkSync(outside, join(directory, "link"));
  symlinkSync("..", join(directory, "a", "up"));
  chmodSync(join(directory, "a", "b"), 0o000);
  chmodSync(join(directory, "a"), 0o000);
  await removeFolder(directory);
  expect(existsSync(directory)).toBe(false);
  expect(readFileSync(outside, "utf8")).toBe("outside");
});

test("removes folders nested deeper than any path can be", async () => {
  const directory = temporaryDirectory();
  const name = "n".repeat(200);
  const nest = `for (let i = 0; i < 100; i++) { fs.mkdirSync("${name}"); fs.writeFileSync("f", ""); process.chdir("${name}"); }`;
  expect(spawnSync(process.execPath, ["-e", nest], { cwd: directory }).status).toBe(0);
  await removeFolder(directory);
  expect(existsSync(directory)).toBe(false);
});

test("is content with a folder that is not there, and removes nothing through a link", async () => {
  const place = temporaryDirectory();
  await removeFolder(join(place, "never"));
  const kept = temporaryDirectory();
  writeFileSync(join(kept, "file"), "");
  symlinkSync(kept, join(place, "link"));
  await expect(removeFolder(join(place, "link"))).rejects.toThrow(/ELOOP|ENOTDIR/);
  expect(existsSync(join(kept, "file"))).toBe(true);
});
