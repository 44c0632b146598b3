import { describe, expect, test } from "vitest";
import { treeHash } from "../../../src/domain/tree.ts";
import { mergeTrees } from "../../../src/workspace/merge.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { clearlyLess, growth } from "./growth.ts";
import { MemoryBlobs } from "./memory-blobs.ts";
import { type Files, merged } from "./merged.ts";

describe("at random,", () => {
  const words = ["a", "b", "c", "}", ""];
  const randomText = (random: () => number) =>
    Array.from(
      { length: Math.floor(random() * 12) },
      () => `${words[Math.floor(random() * words.length)]}\n`,
    ).join("");
  const randomFiles = (random: () => number, from: Files = {}): Files => {
    const files: Record<string, string | Uint8Array> = {};
    for (const path of ["a", "b", "B", "c/d", "c", "e"]) {
      const others = Object.keys(files).map((other) => other.replace("!", "").toLowerCase());
      const isThere = others.some(
        (other) => `${other}/`.startsWith(`${path.toLowerCase()}/`) || path.startsWith(`${other}/`),
      );
      if (isThere) continue;
      const roll = random();
      if (roll < 0.5 && from[path] !== undefined) files[path] = from[path];
      else if (roll < 0.8)
        files[random() < 0.1 ? `${path}!` : path] = random() < 0.1 ? "\0" : randomText(random);
    }
    return files;
  };

  test("merging with what did not change gives the other side, and with itself itself", async () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    for (let round = 0; round < 300; round += 1) {
      const base = randomFiles(random);
      const other = randomFiles(random, base);
      for (const [ours, theirs] of [
        [other, base],
        [base, other],
        [other, other],
      ] as const) {
        const { tree, conflicts, blobs } = await merged(base, ours, theirs);
        expect(treeHash(tree), `seed ${seed}, round ${round}`).toBe(treeHash(blobs.tree(other)));
        expect(conflicts, `seed ${seed}, round ${round}`).toEqual([]);
      }
    }
  });

  test("a conflict one way is a conflict the other way, and without one both ways give the same", async () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    let conflicting = 0;
    for (let round = 0; round < 600; round += 1) {
      const base = randomFiles(random);
      const [ours, theirs] = [randomFiles(random, base), randomFiles(random, base)];
      const there = await merged(base, ours, theirs);
      const back = await merged(base, theirs, ours);
      const context = `seed ${seed}, round ${round}: ${JSON.stringify({ base, ours, theirs })}`;
      expect(there.conflicts.length > 0, `${context} both ways`).toBe(back.conflicts.length > 0);
      const contents = (kinds: readonly (readonly string[])[]) =>
        kinds.filter(([, kind]) => kind !== "case" && kind !== "file-folder");
      expect(contents(there.kinds), `${context} kinds`).toEqual(contents(back.kinds));
      if (there.conflicts.length > 0) conflicting += 1;
      const expected = there.conflicts.length > 0 ? treeHash(there.tree) : treeHash(back.tree);
      expect(treeHash(there.tree), `${context} result`).toBe(expected);
      for (const hash of there.artifacts) expect(there.blobs.stored.has(hash)).toBe(true);
    }
    expect(conflicting).toBeGreaterThan(50);
    expect(conflicting).toBeLessThan(600);
  });

  test("changes to different lines always merge, and both are in the result", async () => {
    const seed = newSeed();
    const random = seededRandom(seed);
    for (let round = 0; round < 500; round += 1) {
      const end = random() < 0.5 ? "\n" : "\r\n";
      const lines = Array.from(
        { length: 3 + Math.floor(random() * 30) },
        (_, index) => `line ${index}${end}`,
      );
      // Each place belongs to one side, and places next to each other to neither.
      const owners = lines.map((_, index) => (index % 2 === 0 ? Math.floor(random() * 3) : 2));
      const change = (side: number) =>
        lines.map((line, index) => {
          if (owners[index] !== side) return line;
          return (
            ["", `${side} was here${end}`, `${side} before${end}${line}`, `${line}${side} after${end}`][
              (index + side + round) % 4
            ] ?? line
          );
        });
      const [ours, theirs] = [change(0), change(1)];
      const both = lines.map((line, index) =>
        owners[index] === 0 ? ours[index] : owners[index] === 1 ? theirs[index] : line,
      );
      const { files, conflicts } = await merged(
        { f: lines.join("") },
        { f: ours.join("") },
        { f: theirs.join("") },
      );
      expect(conflicts, `seed ${seed}, round ${round}`).toEqual([]);
      expect(files, `seed ${seed}, round ${round}`).toEqual({ f: both.join("") });
    }
  });
});

test("large texts are merged in time proportional to their size", async () => {
  const work = (count: number) => {
    const blobs = new MemoryBlobs();
    const lines = Array.from({ length: count }, (_, index) => (index % 4 === 3 ? "}\n" : `line ${index}\n`));
    const changed = (place: number) =>
      lines.map((line, index) => (index % 40 === place ? `${place} changed ${index}\n` : line)).join("");
    const [base, ours, theirs] = [lines.join(""), changed(1), changed(21)].map((f) => blobs.tree({ f }));
    return async () => {
      if (base === undefined || ours === undefined || theirs === undefined) throw new Error("no trees");
      const { conflicts } = await mergeTrees({ base, ours, theirs, blobs });
      expect(conflicts).toEqual([]);
    };
  };
  expect(await growth(work, 48_000)).toBeLessThan(clearlyLess);
});

test("texts made to be slow end in a merge or a conflict", async () => {
  const odd = (word: string, rest: number) =>
    Array.from({ length: 60_000 }, (_, index) => (index % 2 === rest ? `${word}\n` : "x\n")).join("");
  const { tree } = await merged({ f: "x\n".repeat(60_000) }, { f: odd("y", 0) }, { f: odd("z", 1) });
  expect(tree.size).toBe(1);
});
