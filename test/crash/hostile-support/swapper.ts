import { linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/**
 * A program that replaces folders and files with links and back, as fast as it can, until it is killed. The links point
 * outside the workspace, to the same names.
 */
const { directory, outside } = JSON.parse(process.argv[2] ?? "{}") as { directory: string; outside: string };
const at = (...names: string[]): string => join(directory, ...names);

mkdirSync(at("folder", "deep"), { recursive: true });
writeFileSync(at("folder", "a.txt"), "inside");
writeFileSync(at("folder", "deep", "b.txt"), "inside");
writeFileSync(at("file.txt"), "inside");
writeFileSync(at("hard.txt"), "inside");
writeFileSync(at("grows.txt"), "inside");
process.send?.("ready");

for (let round = 0; ; round += 1) {
  swap("folder", () => symlinkSync(outside, at("folder")));
  swap(join("folder", "deep"), () => symlinkSync(join(outside, "deep"), at("folder", "deep")));
  swap("file.txt", () => symlinkSync(join(outside, "a.txt"), at("file.txt")));
  swap("hard.txt", () => linkSync(join(outside, "a.txt"), at("hard.txt")));
  if (round % 100 === 0) writeFileSync(at("grows.txt"), "inside");
  else writeFileSync(at("grows.txt"), "inside", { flag: "a" });
}

function swap(name: string, put: () => void): void {
  renameSync(at(name), at("away"));
  put();
  rmSync(at(name));
  renameSync(at("away"), at(name));
}
