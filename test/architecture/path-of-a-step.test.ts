import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");

test("a step passes 15 files or fewer from ctx.step to its committed row and back", () => {
  const traced = execFileSync("npm", ["run", "--silent", "trace:step"], { cwd: root, encoding: "utf8" });
  const files = traced.split("\n").filter((line) => /^(?:src|dist)\//.test(line));
  expect(files).not.toEqual([]);
  expect(files.length, traced).toBeLessThanOrEqual(15);
}, 60_000);
