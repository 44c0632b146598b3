import { didYouMean } from "../domain/closest.ts";
import type { CheckResult, Contract } from "../domain/contract.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { AdviseEdit, EditSavings, FileEdit, RunCheck, ToolFiles } from "./ports.ts";
import { textPage } from "./text-page.ts";
import type { ToolName } from "./tool-schemas.ts";

const maxPaths = 1000;
const maxMatches = 200;
const maxLineLength = 300;
const maxCheckLength = 16_000;

export interface ToolEffectPorts {
  readonly files: ToolFiles;
  readonly adviseEdit: AdviseEdit;
  readonly runCheck: RunCheck;
  readonly contract: Contract;
  readonly signal: AbortSignal;
}

export type ToolArguments = Readonly<Record<string, Json>>;

/** What the model is told, and what it cost less than it might have. */
export interface ToolDone {
  readonly output: string;
  readonly edit?: EditSavings;
}

/** What each tool does. The arguments fit the tool's schema; the result is a text of bounded length. */
export type ToolEffects = Readonly<
  Record<Exclude<ToolName, "submit">, (args: ToolArguments) => Promise<string | ToolDone>>
>;

export function toolEffects(ports: ToolEffectPorts): ToolEffects {
  const { files, adviseEdit, runCheck, contract, signal } = ports;
  return {
    read_file: async ({ path, from, lines }) =>
      textPage(await files.readText(path as string), from as number | undefined, lines as number | undefined),
    list_files: async ({ glob }) => {
      const paths = files.list(glob as string | undefined);
      if (paths.length === 0) return glob === undefined ? "[there are no files yet]" : "[no file matches]";
      const more = paths.length - maxPaths;
      return paths.slice(0, maxPaths).join("\n") + (more > 0 ? `\n[and ${more} more; narrow the glob]` : "");
    },
    search_files: async ({ pattern, glob }) => {
      const matches = await files.search(pattern as string, glob as string | undefined);
      if (matches.length === 0) return "[no match]";
      const shown = matches
        .slice(0, maxMatches)
        .map(({ path, line, text }) => `${path}:${line}: ${cut(text)}`);
      const more =
        matches.length >= maxMatches ? "\n[there may be more; narrow the pattern or the glob]" : "";
      return shown.join("\n") + more;
    },
    edit_file: async ({ path, edits }) => {
      const wanted = edits as unknown as readonly FileEdit[];
      const { rewriteBytes, editBytes } = await files.edit(path as string, wanted);
      const count = `${wanted.length} ${wanted.length === 1 ? "edit" : "edits"}`;
      return { output: `edited ${path as string}: ${count} made`, edit: { rewriteBytes, editBytes } };
    },
    write_file: async ({ path, content }) => writeFile(files, adviseEdit, path as string, content as string),
    run_check: async ({ name }) => {
      const names = contract.checks.map((check) => check.name);
      if (names.includes(name as string)) return checkText(await runCheck(name as string, signal));
      throw new InputInvalid(
        `The contract has no check "${name as string}".${didYouMean(name as string, names)}`,
        {
          advice: names.length === 0 ? "It has no checks at all." : `Its checks: ${names.join(", ")}.`,
        },
      );
    },
  };
}

async function writeFile(
  files: ToolFiles,
  adviseEdit: AdviseEdit,
  path: string,
  content: string,
): Promise<string> {
  const existing = files.tree.has(path) ? await readable(files, path) : undefined;
  const advice = existing === undefined ? undefined : adviseEdit(existing, content);
  if (advice !== undefined) throw new InputInvalid(`${path} was not written.`, { advice });
  await files.writeText(path, content);
  return `wrote ${path}: ${Buffer.byteLength(content)} bytes`;
}

/** What is no text may be replaced by one. */
async function readable(files: ToolFiles, path: string): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (InputInvalid.is(error)) return undefined;
    throw error;
  }
}

function checkText({ name, status, message, failures }: CheckResult): string {
  const details = failures.map(({ category, message, file, line, details }) => {
    const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
    return `- ${category}: ${message}${place}${details === undefined ? "" : `\n${details}`}`;
  });
  const text = [`${name}: ${status}`, message, ...details].filter((part) => part !== "").join("\n");
  return text.length <= maxCheckLength ? text : `${text.slice(0, maxCheckLength).toWellFormed()}\n[cut]`;
}

const cut = (text: string): string =>
  text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength).toWellFormed()}…`;
