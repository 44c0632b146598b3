import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, onTestFinished, test } from "vitest";
import { StorageFailed } from "../../src/domain/errors.ts";
import { writeOut } from "../../src/workspace/out.ts";
import { MemoryBlobs } from "../unit/workspace/counted-blobs.ts";
import { SmallDisk } from "./damage-support/small-disk.ts";
import { temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { isWhole, versionFiles } from "./hostile-support/out-versions.ts";
import { Program } from "./support/program.ts";
import { until } from "./support/until.ts";

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((path) => statSync(join(directory, path)).isFile() && path !== ".maestro-out.json")
      .sort()
      .map((path) => [path, readFileSync(join(directory, path), "utf8")]),
  );
}

/** Blocks until that file is another one, so that the kill right after comes in the middle of the others. */
function replaced(path: string): void {
  const inode = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const before = inode();
  for (const deadline = performance.now() + 10_000; inode() === before && performance.now() < deadline; );
}

/** Blocks until something is there. */
function begun(folder: string): void {
  for (const deadline = performance.now() + 20_000; readdirSync(folder).length === 0; )
    if (performance.now() > deadline) throw new Error("it does not begin");
}

describe("a person's folder, when Maestro is killed while it writes there", () => {
  test("has whole files only, the person's own untouched, and the next run makes it right", async () => {
    const target = join(temporaryDirectory(), "out");
    mkdirSync(target);
    writeFileSync(join(target, "mine.txt"), "mine");
    const blobs = new MemoryBlobs();
    let version = 0;
    let mixed = 0;
    for (let kill = 0; kill < 20; kill += 1) {
      const writer = new Program("../hostile-support/out-writer.ts", { target, from: version });
      await until("it writes", () => writer.isReady || !writer.isAlive);
      if (kill % 2 === 0) await delay(Math.random() * 60);
      else replaced(join(target, "src", `${kill % 12}.txt`));
      await writer.end();
      expect((await writer.ended).stderr).toBe("");
      const { "mine.txt": mine, ...files } = filesIn(target);
      expect(mine).toBe("mine");
      expect(Object.entries(files).filter(([, content]) => !isWhole(content))).toEqual([]);
      const versions = new Set(Object.values(files).map((content) => /^version \d+/.exec(content)?.[0]));
      versions.delete(undefined);
      if (versions.size > 1) mixed += 1;
      version += 1000;
    }
    const { kept } = await writeOut(blobs.tree(versionFiles(7)), blobs, target);
    expect(kept).toEqual([
      { path: "mine.txt", reason: "it was there before", beside: "mine.txt.maestro-new" },
    ]);
    const { "mine.txt": _, ...wanted } = versionFiles(7);
    const { "mine.txt": mine, "mine.txt.maestro-new": beside, ...files } = filesIn(target);
    expect([mine, beside, files]).toEqual(["mine", "version 7\n", wanted]);
    // The kills met writes under way, not only the pauses between them.
    expect(mixed).toBeGreaterThan(0);
  });

  test("that was not there appears whole or not at all", async () => {
    const seen = { missing: 0, whole: 0 };
    for (let kill = 0; kill < 12; kill += 1) {
      const target = join(temporaryDirectory(), "out");
      const writer = new Program("../hostile-support/out-writer.ts", { target, from: 0 });
      // Every second one in the middle of its work, before the folder has its name.
      if (kill % 2 === 0) begun(dirname(target));
      else await until("a moment has passed", () => writer.isReady && Math.random() < 0.1);
      const isThere = existsSync(target);
      await writer.end();
      seen[isThere ? "whole" : "missing"] += 1;
      const count = existsSync(target) ? Object.keys(filesIn(target)).length : Number.POSITIVE_INFINITY;
      expect(count).toBeGreaterThanOrEqual(14);
      expect(
        readdirSync(dirname(target)).filter((name) => !/^(?:out|\.maestro-out-.*\.tmp)$/.test(name)),
      ).toEqual([]);
    }
    expect(seen.missing).toBeGreaterThan(0);
  });
});

test.skipIf(!SmallDisk.isPossible)(
  "a full disk leaves the old version whole and says so; with room the new one comes (needs the right to mount)",
  async () => {
    const disk = new SmallDisk("2m");
    onTestFinished(() => disk.remove());
    const [target, blobs] = [join(disk.path, "out"), new MemoryBlobs()];
    const old = { "a.txt": "old", "b/c.txt": "old" };
    await writeOut(blobs.tree(old), blobs, target);
    const large = { "a.txt": "new", "b/c.txt": "x".repeat(3_000_000) };
    await expect(writeOut(blobs.tree(large), blobs, target)).rejects.toThrow(StorageFailed);
    expect([filesIn(target), readdirSync(disk.path)]).toEqual([old, ["out"]]);
    const fresh = join(disk.path, "fresh");
    await expect(writeOut(blobs.tree(large), blobs, fresh)).rejects.toThrow(StorageFailed);
    expect(readdirSync(disk.path)).toEqual(["out"]);
    disk.remount("size=64m");
    expect((await writeOut(blobs.tree(large), blobs, target)).kept).toEqual([]);
    expect(filesIn(target)).toEqual(large);
    // A folder that is a disk of its own cannot be replaced by a rename, and is filled all the same.
    const own = new SmallDisk("2m");
    onTestFinished(() => own.remove());
    await writeOut(blobs.tree(old), blobs, own.path);
    expect(filesIn(own.path)).toEqual(old);
  },
);
