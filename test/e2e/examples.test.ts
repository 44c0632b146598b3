import { execFile } from "node:child_process";
import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { endings } from "./support/examples.ts";

const folder = fileURLToPath(new URL("../../examples/", import.meta.url));

it("every example has an expected output", () => {
  const files = readdirSync(folder).filter((name) => name !== "hello.mts");
  expect(files.toSorted()).toEqual(Object.keys(endings).toSorted());
});

it.each(Object.entries(endings))("%s runs offline from the clone", async (file, ending) => {
  const { stdout } = await promisify(execFile)(process.execPath, [folder + file], { timeout: 300_000 });
  expect(stdout).toMatch(ending);
});
