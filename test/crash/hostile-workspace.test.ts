import { execFileSync, spawnSync } from "node:child_process";
import {
  chmodSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, onTestFinished, test } from "vitest";
import { sha256 } from "../../src/domain/canonical.ts";
import { emptyTree } from "../../src/domain/tree.ts";
import type { CommandResult } from "../../src/workspace/command.ts";
import { readBack } from "../../src/workspace/read-back.ts";
import { removeFolder } from "../../src/workspace/remove-folder.ts";
import type { Sandbox } from "../../src/workspace/sandbox.ts";
import { MemoryBlobs } from "../unit/workspace/counted-blobs.ts";
import { temporaryDirectory } from "./damage-support/temporary-directory.ts";
import { Program } from "./support/program.ts";
import { until } from "./support/until.ts";

const canary = "this must never be read into a tree";

/** A folder outside the workspace with the same names as the workspace. */
function outsideFolder(): string {
  const outside = temporaryDirectory();
  mkdirSync(join(outside, "deep"));
  for (const name of ["a.txt", "deep/b.txt"]) writeFileSync(join(outside, name), canary);
  return outside;
}

/** Contents that are not from the workspace. */
function strangers(blobs: MemoryBlobs, isKnown: (content: string) => boolean): string[] {
  return blobs.puts
    .map((hash) => blobs.contents.get(hash)?.toString() ?? "")
    .filter((content) => !isKnown(content));
}

test("every kind of hostile file is refused by name, and the one good file is read", async () => {
  const [directory, outside, blobs] = [temporaryDirectory(), outsideFolder(), new MemoryBlobs()];
  const at = (...names: string[]): string => join(directory, ...names);
  const bytes = (...name: number[]): Buffer =>
    Buffer.concat([Buffer.from(`${directory}/`), Buffer.from(name)]);
  writeFileSync(at("good.txt"), "good");
  symlinkSync(join(outside, "a.txt"), at("absolute"));
  symlinkSync(`../${outside.split("/").at(-1)}/a.txt`, at("traversal"));
  symlinkSync(outside, at("folder"));
  symlinkSync("/proc/self/environ", at("environ"));
  symlinkSync("/dev/zero", at("endless"));
  symlinkSync("circle", at("circle"));
  linkSync(join(outside, "a.txt"), at("hard"));
  execFileSync("mkfifo", [at("pipe")]);
  const server = createServer().listen(at("socket"));
  onTestFinished(() => void server.close());
  await until("the socket is there", () => readdirSync(directory).includes("socket"));
  if (process.geteuid?.() === 0) {
    execFileSync("mknod", [at("zero"), "c", "1", "5"]);
    execFileSync("mknod", [at("disk"), "b", "7", "200"]);
  }
  writeFileSync(bytes(0xc3, 0x28), "bad UTF-8");
  writeFileSync(bytes(0xed, 0xa0, 0x80), "a lone surrogate");
  writeFileSync(at("cafe\u0301"), "decomposed");
  writeFileSync(at("back\\slash"), "");
  writeFileSync(at("new\nline"), "");
  mkdirSync(at(".Git", "hooks"), { recursive: true });
  writeFileSync(at(".Git", "hooks", "post-checkout"), "evil");
  writeFileSync(at("sparse"), "");
  truncateSync(at("sparse"), 2 ** 43);
  mkdirSync(at(...Array<string>(200).fill("n")), { recursive: true });

  const from = performance.now();
  const { tree, refused } = await readBack(directory, emptyTree, blobs);
  expect(performance.now() - from).toBeLessThan(5000);
  // A link that stays inside is kept as a link; nothing is read through it.
  expect([...tree].map(([path, { mode }]) => [path, mode])).toEqual([
    ["circle", "link"],
    ["good.txt", "file"],
  ]);
  const expected = readdirSync(directory, { encoding: "buffer" }).length - 2;
  expect(refused).toHaveLength(expected);
  expect(strangers(blobs, (content) => ["good", "circle"].includes(content))).toEqual([]);
});

test("names that differ only in case are two files on a case-sensitive disk, and neither is lost", async () => {
  const [directory, blobs] = [temporaryDirectory(), new MemoryBlobs()];
  for (const name of ["Readme.md", "README.md", "readme.MD", "ß", "SS"])
    writeFileSync(join(directory, name), name);
  const { tree } = await readBack(directory, emptyTree, blobs);
  expect(Object.entries(blobs.read(tree)).every(([path, content]) => path === content)).toBe(true);
  expect(tree.size).toBe(readdirSync(directory).length);
});

test("reading a folder of thirty thousand files stops at the limit quickly", async () => {
  const directory = temporaryDirectory();
  for (let index = 0; index < 30_000; index += 1) writeFileSync(join(directory, `f${index}`), "");
  const from = performance.now();
  const { tree, refused } = await readBack(directory, emptyTree, new MemoryBlobs(), {
    maxEntries: 1000,
  });
  expect([tree.size, refused.length]).toEqual([1000, 1]);
  expect(performance.now() - from).toBeLessThan(10_000);
  await removeFolder(directory);
});

describe("a process that replaces folders and files with links while they are read", () => {
  test("gets nothing from outside into a tree in 30 seconds", async () => {
    const [directory, outside] = [temporaryDirectory(), outsideFolder()];
    const swapper = new Program("../hostile-support/swapper.ts", { directory, outside });
    onTestFinished(() => swapper.end());
    await until("the swapper is at work", () => swapper.isReady);
    const canaryHash = sha256(canary);
    const seen = new Map<string, number>();
    const escapes: string[] = [];
    let scans = 0;
    for (const deadline = performance.now() + 30_000; performance.now() < deadline; scans += 1) {
      const blobs = new MemoryBlobs();
      const { tree, refused } = await readBack(directory, emptyTree, blobs);
      for (const [path, file] of tree) if (file.sha256 === canaryHash) escapes.push(path);
      escapes.push(...strangers(blobs, (content) => /^(?:inside)*$/.test(content)));
      for (const { reason } of refused) seen.set(reason, (seen.get(reason) ?? 0) + 1);
      for (const path of tree.keys()) seen.set(path, (seen.get(path) ?? 0) + 1);
    }
    expect(swapper.isAlive).toBe(true);
    expect([escapes.length, ...escapes.slice(0, 5)]).toEqual([0]);
    // The race was real: the reader met links and files.
    expect(scans).toBeGreaterThan(500);
    expect(seen.get("it is a symbolic link")).toBeGreaterThan(100);
    expect(seen.get("folder/a.txt")).toBeGreaterThan(100);
    expect(readFileSync(join(outside, "a.txt"), "utf8")).toBe(canary);
  });
});

const program = fileURLToPath(new URL("hostile-support/ordinary-user.ts", import.meta.url));
const nobody = process.geteuid?.() === 0 ? { uid: 65534, gid: 65534 } : {};
const canBeNobody =
  spawnSync(process.execPath, ["-e", `fs.readFileSync(${JSON.stringify(program)})`], { ...nobody, cwd: "/" })
    .status === 0;

test.skipIf(!canBeNobody)(
  "without root, an unreadable file is refused and stays, and an unreadable folder is still removed (needs a readable checkout)",
  () => {
    const { stdout, stderr } = spawnSync(process.execPath, [program], {
      ...nobody,
      cwd: "/",
      encoding: "utf8",
    });
    expect(stderr).toBe("");
    const seen = JSON.parse(stdout) as {
      uid: number;
      sandbox: Sandbox;
      readable: object;
      isRemoved: boolean;
      ran: CommandResult;
      made: string[];
    };
    expect(seen.uid).not.toBe(0);
    expect(seen.readable).toEqual({
      paths: ["locked/a.txt", "secret.txt"],
      changes: 0,
      refused: [
        { path: "listed/b.txt", reason: "permission denied" },
        { path: "locked", reason: "permission denied" },
        { path: "secret.txt", reason: "permission denied" },
      ],
    });
    expect([seen.isRemoved, seen.made]).toEqual([true, ["made"]]);
    expect(seen.ran).toMatchObject({
      kind: "exited",
      code: 0,
      sandbox: seen.sandbox.kind,
      stdout: `${seen.uid}\nclosed\n`,
    });
  },
);

test("files below an unreadable folder are not in the list of changes", async () => {
  const [directory, blobs] = [temporaryDirectory(), new MemoryBlobs()];
  mkdirSync(join(directory, "a"));
  chmodSync(join(directory, "a"), 0o000);
  const base = blobs.tree({ "a/b.txt": "b" });
  const { tree, refused } = await readBack(directory, base, blobs);
  // Root can read the folder and sees that the file is deleted.
  expect(process.geteuid?.() === 0 ? tree.size : refused.length).toBe(process.geteuid?.() === 0 ? 0 : 1);
});
