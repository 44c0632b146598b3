import { chmodSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "../../../src/domain/canonical.ts";
import type { Tree } from "../../../src/domain/tree.ts";
import { runCommand } from "../../../src/workspace/command.ts";
import { readBack } from "../../../src/workspace/read-back.ts";
import { removeFolder } from "../../../src/workspace/remove-folder.ts";
import { describeSandbox } from "../../../src/workspace/sandbox.ts";
import { materialize } from "../../../src/workspace/write-tree.ts";

/** A program that runs as a user without special rights and reports what it saw. */
const contents = new Map<string, Buffer>();
const blobs = {
  put: (content: string | Uint8Array) => {
    contents.set(sha256(Buffer.from(content)), Buffer.from(content));
    return Promise.resolve(sha256(Buffer.from(content)));
  },
  get: (hash: string) => Promise.resolve(contents.get(hash) ?? Buffer.alloc(0)),
};
const base: Tree = new Map([
  ["locked/a.txt", { sha256: await blobs.put("a"), bytes: 1, mode: "file" }],
  ["secret.txt", { sha256: await blobs.put("s"), bytes: 1, mode: "file" }],
]);
const directory = join(mkdtempSync(join(tmpdir(), "maestro-ordinary-")), "workspace");
await materialize(base, blobs, directory);
mkdirSync(join(directory, "listed"));
writeFileSync(join(directory, "listed", "b.txt"), "b");
chmodSync(join(directory, "listed"), 0o400);
chmodSync(join(directory, "locked"), 0o000);
chmodSync(join(directory, "secret.txt"), 0o000);
const { tree, changes, refused } = await readBack(directory, base, blobs);
const readable = { paths: [...tree.keys()].sort(), changes: changes.length, refused };
await removeFolder(directory);
const isRemoved = !existsSync(directory);

await materialize(new Map(), blobs, directory);
const ran = await runCommand({
  argv: ["sh", "-c", "id -u; touch made; touch /outside 2>/dev/null || echo closed"],
  directory,
  timeoutMs: 20_000,
  maxOutputBytes: 1000,
  signal: new AbortController().signal,
  network: false,
  writable: "workspace",
});
const made = (await readBack(directory, new Map(), blobs)).changes.map(({ path }) => path);
await removeFolder(join(directory, ".."));
process.stdout.write(
  JSON.stringify({
    uid: process.getuid?.(),
    sandbox: await describeSandbox(),
    readable,
    isRemoved,
    ran,
    made,
  }),
);
