import { expect, it } from "vitest";
import {
  attackServer,
  attackWithIds,
  attackWithImports,
  attackWithPaths,
  attackWithSealedImports,
  attackWithTeamFiles,
} from "../campaign/hostile.ts";

it("an id that looks like a path finds no session and touches no file", async () => {
  expect(await attackWithIds(1)).toBe(20);
});

it("a hostile path from a persona reaches no file outside its workspace", async () => {
  expect(await attackWithPaths(1)).toBe(30);
});

it("a forged export is refused, and its import writes no file elsewhere", async () => {
  expect(await attackWithImports(1)).toBe(10);
});

it("an export that lies under right seals is refused and leaves nothing behind, or can be shown", async () => {
  expect(await attackWithSealedImports(1)).toBe(20);
});

it("a team file of random values is loaded or refused with an error of Maestro", async () => {
  expect(await attackWithTeamFiles(1, 100)).toBe(100);
});

it("a server refuses requests without its token and continues to work", async () => {
  expect(await attackServer(1)).toBe(25);
});
