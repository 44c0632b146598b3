import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const root = mkdtempSync(join(tmpdir(), "maestro-damage-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Removed after the tests of the file. */
export function temporaryDirectory(): string {
  return mkdtempSync(join(root, "d"));
}

export function newStateDir(): string {
  return join(temporaryDirectory(), "state");
}
