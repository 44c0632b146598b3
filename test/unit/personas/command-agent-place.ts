import { fileURLToPath } from "node:url";
import { expect } from "vitest";
import { runCommandPersona } from "../../../src/personas/command/command-persona.ts";
import type { CommandPersonaPorts } from "../../../src/personas/command/command-ports.ts";
import { commandPlace, runProcess } from "../../support/command-place.ts";
import { MemoryFiles } from "../../support/memory-files.ts";
import { RecordingSteps } from "../../support/recording-steps.ts";
import { someWork } from "./persona-place.ts";

export const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/models/${name}`, import.meta.url));

/** An agent that is a little program. */
export const agent = (source: string, ...args: string[]): string[] => [
  process.execPath,
  "--input-type=module",
  "-e",
  `import * as fs from "node:fs"; const prompt = fs.readFileSync(0, "utf8"); ${source}`,
  ...args,
];

export const printing = (name: string): string[] =>
  agent(
    `fs.writeFileSync("risks.md", "# Risks"); process.stdout.write(fs.readFileSync(${JSON.stringify(fixture(name))}))`,
  );

/** A persona whose work a command does, with files and steps in memory. */
export function place(
  argv: readonly string[],
  more: Partial<CommandPersonaPorts> = {},
  files = new MemoryFiles(),
) {
  const steps = new RecordingSteps();
  const heard: string[] = [];
  const run = (runStep = steps.runStep) =>
    runCommandPersona(someWork({ persona: "skeptic", instructions: "Find what breaks the design." }), {
      argv,
      written: { argv: [...argv] },
      runStep,
      runCommand: runProcess,
      place: commandPlace(files),
      files,
      signal: new AbortController().signal,
      timeoutMs: 3_600_000,
      persona: "agent",
      sessionId: "session",
      onText: (text) => heard.push(text),
      ...more,
    });
  return { run, steps, files, heard };
}

export const failureOf = async (run: () => Promise<unknown>): Promise<Error> =>
  run().then(
    () => expect.fail("it did not fail"),
    (error: unknown) => error as Error,
  );
