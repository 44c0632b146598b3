import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { ownerMark, sweepScratch } from "../../../src/workspace/scratch.ts";
import { temporaryDirectory } from "./temporary-directory.ts";

test("removes the folders of killed processes and keeps those in use", async () => {
  const scratch = temporaryDirectory();
  const mine = await ownerMark();
  const [machine, pid, started] = mine.split("-");
  const dead = spawnSync(process.execPath, ["-e", ""]).pid;
  const folders = {
    mine: `${mine}a`,
    dead: `${machine}-${dead}-${started}-a`,
    /** The pid is mine by now, and was another's. */
    reused: `${machine}-${pid}-7-a`,
    elsewhere: `00000000-${dead}-7-a`,
    elsewhereLongAgo: `00000000-${dead}-7-b`,
    unknown: "copy-x",
    unknownLongAgo: "copy-y",
  };
  for (const [name, folder] of Object.entries(folders)) {
    mkdirSync(join(scratch, folder));
    writeFileSync(join(scratch, folder, "file"), "");
    if (name.endsWith("LongAgo")) utimesSync(join(scratch, folder), 1_000_000, 1_000_000);
  }
  for (const session of ["over", "alive"])
    mkdirSync(join(scratch, "kept", session, "7"), { recursive: true });
  await sweepScratch(scratch, async (session) => session === "over");
  const { mine: own, elsewhere, unknown } = folders;
  expect(readdirSync(scratch).sort()).toEqual([own, elsewhere, unknown, "kept"].sort());
  expect(readdirSync(join(scratch, "kept"))).toEqual(["alive"]);
});
