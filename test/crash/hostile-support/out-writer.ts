import { writeOut } from "../../../src/workspace/out.ts";
import { MemoryBlobs } from "../../unit/workspace/counted-blobs.ts";
import { versionFiles } from "./out-versions.ts";

/** A program that delivers one version after the other to the same folder until it is killed. */
const { target, from } = JSON.parse(process.argv[2] ?? "{}") as { target: string; from: number };
const blobs = new MemoryBlobs();
for (let version = from; ; version += 1) {
  const writing = writeOut(blobs.tree(versionFiles(version)), blobs, target);
  if (version === from) process.send?.("writing");
  const { kept } = await writing;
  const strange = kept.filter(({ path }) => path !== "mine.txt");
  if (strange.length > 0) throw new Error(`kept what is ours: ${JSON.stringify(strange)}`);
}
