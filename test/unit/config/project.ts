import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { type LoadOptions, loadConfig } from "../../../src/config/load.ts";
import { ConfigInvalid } from "../../../src/domain/errors.ts";

/** A working directory of its own with the given files, gone after the test. */
export async function project(files: Record<string, string> = {}): Promise<string> {
  const cwd = await mkdtemp(join(tmpdir(), "maestro-config-"));
  onTestFinished(async () => await rm(cwd, { recursive: true }));
  for (const [name, text] of Object.entries(files)) await writeFile(join(cwd, name), text);
  return cwd;
}

/** A person without settings of their own, who trusted nothing; and the same in CI, where everything is trusted. */
export const stranger = { HOME: "/nonexistent" };
export const trusting = { ...stranger, MAESTRO_TRUST: "1" };

/** The message of the error that the configuration must be refused with. */
export async function refusal(options: LoadOptions): Promise<string> {
  const error: unknown = await loadConfig({ ...options, env: { ...trusting, ...options.env } }).then(
    () => new Error("the configuration was accepted"),
    (reason: unknown) => reason,
  );
  if (!(error instanceof ConfigInvalid)) throw error;
  return error.message;
}
