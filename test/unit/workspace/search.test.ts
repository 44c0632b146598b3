import { describe, expect, test } from "vitest";
import { InputInvalid } from "../../../src/domain/errors.ts";
import { searchLimits } from "../../../src/workspace/search.ts";
import { Workspace } from "../../../src/workspace/workspace.ts";
import { MemoryBlobs } from "./memory-blobs.ts";

const workspaceOf = (files: Readonly<Record<string, string | Uint8Array>>) => {
  const blobs = new MemoryBlobs();
  return new Workspace(blobs, blobs.tree(files));
};

const sample = workspaceOf({
  "b.ts": "const a = 1;\r\nconst b = a + 2;\r\n",
  "a.ts": "// a.b\nfoo(bar);\nlast line",
  "docs/x.md": "See a.b, axb and /usr/bin/env.\n",
  "image.png": new Uint8Array([0, 97, 46, 98]),
});

const found = async (pattern: string, glob?: string) =>
  (await sample.search(pattern, glob)).map(({ path, line, text }) => `${path}:${line}: ${text}`);

describe("a search", () => {
  test("is for plain text, in order of path and line, and passes over what is not text", async () => {
    expect(await found("a.b")).toEqual(["a.ts:1: // a.b", "docs/x.md:1: See a.b, axb and /usr/bin/env."]);
    expect(await found("const")).toEqual(["b.ts:1: const a = 1;", "b.ts:2: const b = a + 2;"]);
    expect(await found("last")).toEqual(["a.ts:3: last line"]);
    expect(await found("nowhere")).toEqual([]);
  });

  test("is for a regular expression when it is between slashes", async () => {
    expect(await found("/a.b/")).toHaveLength(2);
    expect(await found("/^CONST b/i")).toEqual(["b.ts:2: const b = a + 2;"]);
    expect(await found("/(?i)^CONST b/")).toEqual(["b.ts:2: const b = a + 2;"]);
    expect(await found("/;$/")).toHaveLength(3);
    expect(await found("/^$/")).toEqual([]);
    expect(await found(String.raw`/\/usr\/bin/`)).toHaveLength(1);
    expect(await found("/[/]usr/")).toHaveLength(1);
  });

  test("for a path is for plain text", async () => {
    expect(await found("/usr/bin/")).toHaveLength(1);
    expect(await found("/usr/")).toHaveLength(1);
  });

  test("can be limited to a glob", async () => {
    expect(await found("a.b", "*.ts")).toHaveLength(1);
    expect(await found("a.b", "nothing/**")).toEqual([]);
  });

  test("sees what was just written, and not what was removed", async () => {
    const workspace = workspaceOf({ a: "needle", b: "needle" });
    await workspace.write("c", "needle");
    await workspace.remove("a");
    expect((await workspace.search("needle")).map(({ path }) => path)).toEqual(["b", "c"]);
  });

  test.each(["", "a\nb", "x".repeat(1001), "/(/", "/(?=a)/"])(
    "for %.10j is refused with advice",
    async (pattern) => {
      const error: unknown = await sample.search(pattern).catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(InputInvalid);
      expect((error as InputInvalid).advice).toBeTruthy();
    },
  );

  test("stops at its limits", async () => {
    const workspace = workspaceOf({
      a: "x\n".repeat(1000),
      b: `${"é".repeat(5000)}needle${"ü".repeat(5000)}`,
    });
    expect(await workspace.search("x")).toHaveLength(searchLimits.maxMatches);
    for (const pattern of ["needle", "/ne+dle/"]) {
      const [match] = await workspace.search(pattern);
      expect(match?.text).toContain("needle");
      expect(match?.text.length).toBeLessThanOrEqual(searchLimits.maxTextLength + 2);
    }
  });

  test("over more than it may read says so instead of leaving something out", async () => {
    const large = "y".repeat(8 * 1024 * 1024);
    const workspace = workspaceOf(
      Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`f${index}`, large])),
    );
    await expect(workspace.search("x")).rejects.toThrow("more than");
    expect(await workspace.search("x", "f[0-3]")).toEqual([]);
  });

  test("through a large file lets others have their turn", async () => {
    const workspace = workspaceOf({ a: "some line of text that is not found\n".repeat(100_000) });
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 0);
    await workspace.search("/z+$/");
    clearInterval(timer);
    expect(turns).toBeGreaterThan(3);
  });
});
