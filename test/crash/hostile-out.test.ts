import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { StorageFailed } from "../../src/domain/errors.ts";
import { writeOut } from "../../src/workspace/out.ts";
import { killWhileFilesAreDelivered } from "../campaign/kill-out.ts";
import { MemoryBlobs } from "../unit/workspace/counted-blobs.ts";
import { SmallDisk } from "./damage-support/small-disk.ts";

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((path) => statSync(join(directory, path)).isFile() && path !== ".maestro-out.json")
      .sort()
      .map((path) => [path, readFileSync(join(directory, path), "utf8")]),
  );
}

it("a kill during delivery leaves complete files only, and the user's own files untouched", async () => {
  expect(await killWhileFilesAreDelivered(1)).toBe(12);
});

it.skipIf(!SmallDisk.isPossible)(
  "a delivery to a full disk keeps the old version and reports it, and succeeds when there is room (needs the right to mount)",
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
    // A mount point cannot be replaced by a rename, so its files are written in place.
    const own = new SmallDisk("2m");
    onTestFinished(() => own.remove());
    await writeOut(blobs.tree(old), blobs, own.path);
    expect(filesIn(own.path)).toEqual(old);
  },
);
