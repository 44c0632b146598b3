import { setImmediate } from "node:timers/promises";
import { describe, expect, test } from "vitest";
import { sha256 } from "../../../src/domain/canonical.ts";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { emptyTree, type TreeChange } from "../../../src/domain/tree.ts";
import { Workspace } from "../../../src/workspace/workspace.ts";
import { newSeed, seededRandom } from "../domain/seeded-random.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

const start = (files: Readonly<Record<string, string>> = {}) => {
  const blobs = new MemoryBlobs();
  const base = blobs.tree(files);
  return { blobs, base, workspace: new Workspace(blobs, base) };
};
const file = (content: string) => ({ sha256: sha256(content), bytes: content.length, mode: "file" as const });
const pathsOf = (changes: readonly TreeChange[]) => changes.map(({ path }) => path);

describe("a recording", () => {
  test("has the result and what was changed, in order of path", async () => {
    const { workspace } = start({ old: "1", gone: "2" });
    const { result, changes } = await workspace.recordings.record(async () => {
      await workspace.write("z", "3");
      await workspace.edit("old", [{ find: "1", replace: "one" }]);
      await workspace.remove("gone");
      return 7;
    });
    expect(result).toBe(7);
    expect(changes).toEqual([
      { path: "gone" },
      { path: "old", after: file("one") },
      { path: "z", after: file("3") },
    ]);
  });

  test("of an effect that only reads, or undoes what it did, has no changes", async () => {
    const { workspace } = start({ a: "1" });
    const { changes } = await workspace.recordings.record(async () => {
      await workspace.readText("a");
      await workspace.write("a", "1");
      await workspace.write("a", "2");
      await workspace.write("a", "1");
      await workspace.write("temporary", "x");
      await workspace.remove("temporary");
    });
    expect(changes).toEqual([]);
  });

  test("takes an effect that is not asynchronous", async () => {
    const { workspace } = start();
    expect(await workspace.recordings.record(() => 1)).toEqual({ result: 1, changes: [] });
    await expect(
      workspace.recordings.record(() => {
        throw new Error("at once");
      }),
    ).rejects.toThrow("at once");
  });

  test("does not have what others change at the same time", async () => {
    const { workspace } = start();
    const effect = (name: string) => async () => {
      for (let index = 0; index < 5; index += 1) {
        await workspace.write(`${name}/${index}`, name);
        await setImmediate();
      }
    };
    const [a, b] = await Promise.all([
      workspace.recordings.record(effect("a")),
      workspace.recordings.record(effect("b")),
      effect("outside")(),
    ]);
    expect(pathsOf(a.changes)).toEqual(["a/0", "a/1", "a/2", "a/3", "a/4"]);
    expect(pathsOf(b.changes)).toEqual(["b/0", "b/1", "b/2", "b/3", "b/4"]);
    expect(workspace.list()).toHaveLength(15);
  });

  test("follows its effect through timers, callbacks and parallel calls", async () => {
    const { workspace } = start();
    const other = workspace.recordings.record(() => workspace.write("other", "x"));
    const { changes } = await workspace.recordings.record(async () => {
      await new Promise<void>((resolve, reject) => {
        setTimeout(() => {
          workspace.write("timer", "1").then(resolve, reject);
        }, 1);
      });
      await Promise.all(["b", "a"].map((path) => workspace.write(path, path)));
      for await (const path of (async function* () {
        yield "generator";
      })()) {
        await workspace.write(path, "2");
      }
    });
    await other;
    expect(pathsOf(changes)).toEqual(["a", "b", "generator", "timer"]);
  });

  test("inside another belongs to both, because a replay of the outer one does not run the inner one", async () => {
    const { workspace } = start();
    let inner: readonly TreeChange[] = [];
    const outer = await workspace.recordings.record(async () => {
      await workspace.write("outer", "1");
      ({ changes: inner } = await workspace.recordings.record(() => workspace.write("inner", "2")));
      workspace.reapply([{ path: "replayed", after: file("3") }]);
    });
    expect(pathsOf(inner)).toEqual(["inner"]);
    expect(pathsOf(outer.changes)).toEqual(["inner", "outer", "replayed"]);
  });

  test("keeps a path that looks unchanged when another writer changed it meanwhile", async () => {
    const { workspace } = start({ a: "1" });
    const { promise, resolve } = Promise.withResolvers<void>();
    const one = workspace.recordings.record(async () => {
      await workspace.write("a", "2");
      await promise;
      await workspace.write("a", "1");
    });
    await workspace.recordings.record(() => workspace.write("a", "3"));
    resolve();
    expect((await one).changes).toEqual([{ path: "a", after: file("1") }]);
  });

  test("refuses a change that comes after its end, which a replay would not have", async () => {
    const { workspace } = start({ a: "1" });
    const late = Promise.withResolvers<void>();
    let writing: Promise<void> | undefined;
    let removing: Promise<void> | undefined;
    await workspace.recordings.record(() => {
      writing = late.promise.then(() => workspace.write("late", "x"));
      removing = late.promise.then(() => workspace.remove("a"));
      writing.catch(() => {});
      removing.catch(() => {});
    });
    late.resolve();
    await expect(writing).rejects.toThrow(InputInvalid);
    await expect(removing).rejects.toThrow("after the step");
    expect(workspace.list()).toEqual(["a"]);
  });
});

test("a recording that outlives the one it is part of may change nothing more", async () => {
  const { workspace } = start();
  const gate = Promise.withResolvers<void>();
  let inner: Promise<unknown> | undefined;
  const { changes } = await workspace.recordings.record(async () => {
    inner = workspace.recordings.record(async () => {
      await workspace.write("early", "1");
      await gate.promise;
      await workspace.write("late", "2");
    });
    inner.catch(() => {});
    await setImmediate();
  });
  expect(pathsOf(changes)).toEqual(["early"]);
  gate.resolve();
  await expect(inner).rejects.toThrow("after the step");
  // As the outer one recorded it.
  expect(workspace.list()).toEqual(["early"]);
});

describe("an effect that fails", () => {
  const failing = (workspace: Workspace, effect: () => Promise<unknown>) =>
    expect(
      workspace.recordings.record(async () => {
        await effect();
        throw new Error("failed");
      }),
    ).rejects.toThrow("failed");

  test("leaves nothing behind", async () => {
    const { workspace } = start({ a: "1", b: "2", "c/d": "3" });
    const before = workspace.hash;
    await failing(workspace, async () => {
      await workspace.write("a", "changed");
      await workspace.remove("b");
      await workspace.write("new", "x");
      await workspace.remove("c/d");
      await workspace.write("c", "a file where a folder was");
    });
    expect(workspace.hash).toBe(before);
    expect(await workspace.readText("a")).toBe("1");
  });

  test("leaves what others did, before, between and after", async () => {
    const { workspace } = start({ a: "1", b: "1" });
    const failed = workspace.recordings.record(async () => {
      await workspace.write("a", "mine");
      await workspace.write("b", "mine");
      await setImmediate();
      await setImmediate();
      await workspace.write("a", "mine again");
      throw new Error("failed");
    });
    await workspace.recordings.record(async () => {
      await workspace.write("a", "theirs");
      await workspace.write("b", "theirs");
    });
    await expect(failed).rejects.toThrow("failed");
    expect(await workspace.readText("a")).toBe("theirs");
    expect(await workspace.readText("b")).toBe("theirs");
  });

  test("takes nothing out of the recording of another that it had overwritten", async () => {
    const { workspace } = start({ a: "1" });
    const gate = Promise.withResolvers<void>();
    const other = workspace.recordings.record(async () => {
      await workspace.write("a", "2");
      await gate.promise;
    });
    await failing(workspace, () => workspace.write("a", "3"));
    gate.resolve();
    expect((await other).changes).toEqual([{ path: "a", after: file("2") }]);
    expect(await workspace.readText("a")).toBe("2");
  });

  test("a failed recording inside a running one leaves no change in it", async () => {
    const { workspace } = start({ a: "1" });
    const { changes } = await workspace.recordings.record(async () => {
      await workspace.write("kept", "x");
      await failing(workspace, () => workspace.write("a", "2"));
    });
    expect(pathsOf(changes)).toEqual(["kept"]);
    expect(await workspace.readText("a")).toBe("1");
  });

  test("does not restore a file where another writer now has a folder", async () => {
    const { workspace } = start({ a: "1" });
    const gate = Promise.withResolvers<void>();
    const failed = workspace.recordings.record(async () => {
      await workspace.remove("a");
      await gate.promise;
      throw new Error("failed");
    });
    await workspace.write("a/b", "2");
    gate.resolve();
    await expect(failed).rejects.toThrow("failed");
    expect(workspace.list()).toEqual(["a/b"]);
  });
});

describe("changes", () => {
  test("that were flushed can be replayed by a new workspace, in any number of repetitions", async () => {
    const { blobs, base, workspace } = start({ a: "1", b: "2" });
    const { changes } = await workspace.recordings.record(async () => {
      await workspace.write("a", "one");
      await workspace.remove("b");
      await workspace.write("b/c", "a folder where a file was");
    });
    const artifacts = await workspace.flush(changes);
    expect(artifacts).toEqual([sha256("one"), sha256("a folder where a file was")].sort());
    for (const hash of artifacts) expect(blobs.stored.has(hash)).toBe(true);
    const again = new Workspace(blobs, base);
    again.reapply(changes);
    again.reapply(changes);
    expect(again.hash).toBe(workspace.hash);
    expect(await again.readText("b/c")).toBe("a folder where a file was");
    const { artifacts: saved } = await again.save();
    expect(saved).toEqual(expect.arrayContaining([...artifacts]));
  });

  test("survive a journal as JSON", async () => {
    const { blobs, base, workspace } = start({ a: "1" });
    const { changes } = await workspace.recordings.record(() =>
      workspace.write("é", "2", { executable: true }),
    );
    await workspace.flush(changes);
    const again = new Workspace(blobs, base);
    again.reapply(JSON.parse(JSON.stringify(changes)) as TreeChange[]);
    expect(again.hash).toBe(workspace.hash);
  });

  test("with a path that no tree may hold are refused", () => {
    const { workspace } = start();
    for (const path of ["../a", "/a", ".git/a"]) {
      expect(() => workspace.reapply([{ path, after: file("x") }])).toThrow(InputInvalid);
      expect(() => workspace.reapply([{ path }])).toThrow(InputInvalid);
    }
  });

  test("of content that the base has need nothing to be kept alive", async () => {
    const { blobs, workspace } = start({ a: "1" });
    const { changes } = await workspace.recordings.record(() => workspace.write("copy", "1"));
    expect(await workspace.flush(changes)).toEqual([]);
    expect(blobs.puts).toBe(0);
  });
});

test("recordings at random, side by side and in each other: replaying the outer ones gives the same tree", async () => {
  const seed = newSeed();
  const random = seededRandom(seed);
  for (let round = 0; round < 60; round += 1) {
    const blobs = new MemoryBlobs();
    const workspace = new Workspace(blobs, emptyTree);
    const recorded: TreeChange[][] = [];
    const effect = (name: string, depth: number) => async (): Promise<void> => {
      for (let index = 0; index < 4; index += 1) {
        const path = `${name}/${Math.floor(random() * 4)}`;
        if (random() < 0.6) await workspace.write(path, String(random()));
        else if (workspace.tree.has(path)) await workspace.remove(path);
        if (random() < 0.3) await setImmediate();
        if (depth > 0 && random() < 0.4)
          await workspace.recordings.record(effect(`${name}/x${index}`, depth - 1)).catch(() => {});
        if (depth < 2 && random() < 0.1) throw new Error("fails now and then");
      }
    };
    await Promise.all(
      ["a", "b", "c"].map(async (name) => {
        for (let step = 0; step < 3; step += 1) {
          const { changes } = await workspace.recordings.record(effect(name, 2));
          await workspace.flush(changes);
          recorded.push([...changes]);
        }
      }),
    );
    const again = new Workspace(blobs, emptyTree);
    for (const changes of recorded) again.reapply(changes);
    expect(again.hash, `seed ${seed}, round ${round}`).toBe(workspace.hash);
    for (const path of again.list()) expect(await again.readText(path)).toBe(await workspace.readText(path));
  }
});
