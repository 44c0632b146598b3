import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, test } from "vitest";
import { seal, unseal } from "../../src/journal/seal.ts";
import { packageVersion } from "../../src/package-files.ts";
import { maestro, temporaryFolder } from "./support/maestro.ts";

const hello = join(import.meta.dirname, "../../examples/hello.mts");

/** A state directory with one completed session. */
async function completed(): Promise<string> {
  const stateDir = join(temporaryFolder(), "state");
  const { code } = await maestro([
    "run",
    "three words here",
    "--team",
    hello,
    "--key",
    "old",
    "--state-dir",
    stateDir,
  ]);
  expect(code).toBe(0);
  return stateDir;
}

test("a database of an older format is refused with exit code 2 and names the version that made it", async () => {
  const stateDir = await completed();
  const database = new DatabaseSync(join(stateDir, "maestro.db"));
  database.exec("UPDATE made_by SET version = '0.1.0'; PRAGMA user_version = 7");
  database.close();

  const { code, stderr } = await maestro(["sessions", "--state-dir", stateDir]);

  expect(code).toBe(2);
  expect(stderr).toContain("has format 7");
  expect(stderr).toContain("Use maestro-hive 0.1.0,");
  expect(packageVersion()).not.toBe("0.1.0");
});

test("a checkpoint of an older format is refused with exit code 2 and names an older version that reads it", async () => {
  const stateDir = await completed();
  for (const name of readdirSync(stateDir).filter((name) => name.startsWith("maestro.db")))
    rmSync(join(stateDir, name));
  const [session = ""] = readdirSync(join(stateDir, "sessions"));
  const folder = join(stateDir, "sessions", session);
  for (const name of readdirSync(folder).filter((name) => name.startsWith("checkpoint_"))) {
    const { content } = unseal(readFileSync(join(folder, name)), name);
    writeFileSync(join(folder, name), seal({ ...content, format: 1 }));
  }

  const { code, stderr } = await maestro(["resume", session, "--team", hello, "--state-dir", stateDir]);

  expect(code).toBe(2);
  expect(stderr).toContain("has checkpoint format 1");
  expect(stderr).toContain("maestro-hive 0.1.x reads it");
  expect(packageVersion()).not.toMatch(/^0\.1\./);
});
