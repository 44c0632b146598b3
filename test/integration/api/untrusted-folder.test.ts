import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { NotTrusted, open } from "../../../src/index.ts";
import { temporaryDirectory } from "../../unit/workspace/temporary-directory.ts";

/** The working directory of this process, for one test. */
function standIn(folder: string): void {
  const before = process.cwd();
  process.chdir(folder);
  onTestFinished(() => process.chdir(before));
}

test("open() in a folder that no person trusted runs none of its code and opens nothing", async () => {
  const folder = temporaryDirectory();
  const code = 'import { writeFileSync } from "node:fs";\nwriteFileSync("ran", "");\nexport default {};\n';
  writeFileSync(join(folder, "maestro.config.mjs"), code);
  standIn(folder);
  await expect(open({ stateDir: join(folder, "state") })).rejects.toThrow(NotTrusted);
  expect(["ran", "state"].filter((name) => existsSync(join(folder, name)))).toEqual([]);
});

test("open() takes the harmless settings of an untrusted folder, and what the program passes", async () => {
  const folder = temporaryDirectory();
  writeFileSync(join(folder, "maestro.config.yaml"), "stateDir: theirs\nmodel: simulated\n");
  standIn(folder);
  await expect(open()).rejects.toThrow(
    "It sets stateDir (line 1): its sessions and their teams would run as yours.",
  );
  const maestro = await open({ stateDir: join(folder, "mine") });
  onTestFinished(() => maestro.close());
  expect(maestro.stateDirectory).toBe(join(folder, "mine"));
  expect(existsSync(join(folder, "theirs"))).toBe(false);
});
