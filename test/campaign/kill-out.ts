import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pass } from "node:timers/promises";
import { expect } from "vitest";
import { writeOut } from "../../src/workspace/out.ts";
import { isWhole, versionFiles } from "../crash/hostile-support/out-versions.ts";
import { Program } from "../crash/support/program.ts";
import { until } from "../crash/support/until.ts";
import { seededRandom } from "../unit/domain/seeded-random.ts";
import { MemoryBlobs } from "../unit/workspace/counted-blobs.ts";
import { orElse } from "./campaign.ts";

const writerProgram = "../hostile-support/out-writer.ts";

/** A folder with the user's files, and a folder that does not exist yet: complete files only, and the user's untouched. */
export async function killWhileFilesAreDelivered(seed: number, kills = 8): Promise<number> {
  const random = seededRandom(seed);
  const folder = mkdtempSync(join(tmpdir(), "maestro-out-"));
  try {
    await intoAFolder(random, join(folder, "mine"), kills);
    for (let kill = 0; kill < kills / 2; kill += 1)
      await intoANewFolder(random, join(folder, `new-${kill}`, "out"));
    return kills + Math.ceil(kills / 2);
  } catch (cause) {
    throw new Error(`seed ${seed}`, { cause });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function intoAFolder(random: () => number, target: string, kills: number): Promise<void> {
  mkdirSync(target);
  writeFileSync(join(target, "mine.txt"), "mine");
  for (let kill = 0; kill < kills; kill += 1) {
    const writer = new Program(writerProgram, { target, from: 1000 * kill });
    await until("it writes", () => writer.isReady || !writer.isAlive);
    if (kill % 2 === 0) await pass(random() * 60);
    else untilReplaced(join(target, "src", `${Math.floor(random() * 12)}.txt`));
    await writer.end();
    expect((await writer.ended).stderr).toBe("");
    const { "mine.txt": mine, ...files } = filesIn(target);
    orElse("lost", () => expect(mine).toBe("mine"));
    const torn = Object.entries(files).filter(([, content]) => !isWhole(content));
    orElse("lost", () => expect(torn.map(([path]) => path)).toEqual([]));
  }
  const blobs = new MemoryBlobs();
  const { kept } = await writeOut(blobs.tree(versionFiles(7)), blobs, target);
  expect(kept).toEqual([{ path: "mine.txt", reason: "it was there before", beside: "mine.txt.maestro-new" }]);
  const { "mine.txt": _, ...wanted } = versionFiles(7);
  const { "mine.txt": mine, "mine.txt.maestro-new": beside, ...files } = filesIn(target);
  expect([mine, beside, files]).toEqual(["mine", "version 7\n", wanted]);
}

async function intoANewFolder(random: () => number, target: string): Promise<void> {
  mkdirSync(dirname(target), { recursive: true });
  const writer = new Program(writerProgram, { target, from: 0 });
  const isEarly = random() < 0.5;
  await until("the moment has come", () =>
    isEarly ? readdirSync(dirname(target)).length > 0 : writer.isReady && random() < 0.1,
  );
  await writer.end();
  const count = existsSync(target) ? Object.keys(filesIn(target)).length : Number.POSITIVE_INFINITY;
  orElse("lost", () => expect(count, "files of a folder that has its name").toBeGreaterThanOrEqual(14));
  const others = readdirSync(dirname(target)).filter((name) => !/^(?:out|\.maestro-out-.*\.tmp)$/.test(name));
  expect(others).toEqual([]);
}

/** Blocks until another file has this name, so that the kill right after it comes between two files. */
function untilReplaced(path: string): void {
  const inode = (): number | undefined => statSync(path, { throwIfNoEntry: false })?.ino;
  const before = inode();
  for (const deadline = performance.now() + 10_000; inode() === before && performance.now() < deadline; );
}

function filesIn(directory: string): Record<string, string> {
  return Object.fromEntries(
    readdirSync(directory, { recursive: true, encoding: "utf8" })
      .filter((path) => statSync(join(directory, path)).isFile() && path !== ".maestro-out.json")
      .sort()
      .map((path) => [path, readFileSync(join(directory, path), "utf8")]),
  );
}
