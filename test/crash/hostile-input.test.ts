import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";

import { attackServer, attackWithIds, attackWithPaths } from "../campaign/hostile.ts";
import { attackWithFiles, withoutEffects } from "../campaign/hostile-files.ts";
import { attackWithImports } from "../campaign/hostile-imports.ts";
import { inFolder } from "../campaign/in-folder.ts";

it("an id that looks like a path finds no session and touches no file", async () => {
  expect(await attackWithIds(1)).toBe(20);
});

it("a hostile path from a persona reaches no file outside its workspace", async () => {
  expect(await attackWithPaths(1)).toBe(30);
});

it("a forged export is refused and leaves nothing behind, or contradicts nothing and does not run", async () => {
  expect(await attackWithImports(1, 500)).toBe(500);
});

it("a team file or configuration of a stranger has no effect, and is read or refused with an error of Maestro", async () => {
  expect(await attackWithFiles(1, 700)).toBe(700);
});

it("a server refuses requests without its token and continues to work", async () => {
  expect(await attackServer(1)).toBe(25);
});

it("a program that starts or a file that appears would be noticed", async () => {
  await inFolder(async (folder) => {
    const start = async () => void (await once(spawn("true"), "exit"));
    await expect(withoutEffects(folder, start)).rejects.toThrow("let in");
    const write = async () => writeFileSync(join(folder, "new"), "");
    await expect(withoutEffects(folder, write)).rejects.toThrow("let in");
    await withoutEffects(folder, async () => {});
  });
});
