import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Failure } from "../../../src/domain/failure.ts";
import type { CommandOutput } from "../../../src/run/failure/read-output.ts";

const root = join(import.meta.dirname, "../../fixtures/failures");

/** Every captured file under the folders, as "tsc/types". */
export const fixtureNames = (...folders: readonly string[]): string[] =>
  folders
    .flatMap((folder) => globSync(`${folder}/**/*.json`, { cwd: root }))
    .map((path) => path.replaceAll("\\", "/").replace(/\.json$/, ""))
    .sort();

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(root, `${name}.json`), "utf8"));

/** The recorded output of a real tool. */
export function outputOf(name: string): CommandOutput {
  const { command, exitCode, stdout, stderr } = readJson(name) as {
    readonly command: readonly string[];
    readonly exitCode: number | null;
    readonly stdout: readonly string[];
    readonly stderr: readonly string[];
  };
  return { command, exitCode, stdout: stdout.join("\n"), stderr: stderr.join("\n") };
}

/** The error that a real provider package threw, with its class's name, fields and causes. */
export const errorOf = (name: string): Error => revive(readJson(name) as Fields);

type Fields = { readonly [key: string]: unknown };

function revive({ name, message, cause, markers, $class: _class, ...fields }: Fields): Error {
  const options = isFields(cause) ? { cause: revive(cause) } : undefined;
  const error = Object.assign(new Error(String(message), options), fields);
  Object.defineProperty(error, "name", { value: name });
  for (const marker of Array.isArray(markers) ? markers : []) {
    Object.defineProperty(error, Symbol.for(String(marker)), { value: true });
  }
  return error;
}

const isFields = (value: unknown): value is Fields => typeof value === "object" && value !== null;

/** The part of a failure that tables promise: "TYPE TS2322 src/total.ts:3:9". */
export function summary({ category, code, file, line, column }: Failure): string {
  const place = [file, line, column].filter((part) => part !== undefined).join(":");
  return [category, code, place].filter((part) => part !== undefined && part !== "").join(" ");
}
