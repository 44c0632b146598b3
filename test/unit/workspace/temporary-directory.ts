import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";

const root = mkdtempSync(join(tmpdir(), "maestro-workspace-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Gone when the tests of the file are done. */
export const temporaryDirectory = (): string => mkdtempSync(join(root, "d"));
