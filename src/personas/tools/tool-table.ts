import { checkReport } from "../../domain/check-report.ts";
import { didYouMean } from "../../domain/closest.ts";
import type { Contract } from "../../domain/contract.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { JsonObject } from "../../domain/json.ts";
import type {
  AdviseEdit,
  FetchUrl,
  FileEdit,
  ReadSkill,
  RunCheck,
  RunProgram,
  ToolFiles,
} from "../model/ports.ts";
import { fetchUrlTool } from "./fetch-url.ts";
import { runCommandDescription, runCommandTool } from "./run-command.ts";
import { textPage } from "./text-page.ts";
import type { KeepText, ToolArguments, ToolDone } from "./tool-call.ts";

const maxPaths = 1000;
const maxMatches = 200;
const maxLineLength = 300;

export interface ToolPorts {
  readonly files: ToolFiles;
  readonly adviseEdit: AdviseEdit;
  readonly runCheck: RunCheck;
  readonly contract: Contract;
  readonly runProgram: RunProgram;
  /** Missing: the persona has no skills. */
  readonly readSkill?: ReadSkill | undefined;
  /** Missing: of a long result only the beginning is kept. */
  readonly keepText?: KeepText | undefined;
  /** Missing: no page can be read. */
  readonly fetchUrl?: FetchUrl | undefined;
  readonly signal: AbortSignal;
}

interface Tool {
  /** The activity of a persona that called it: "reads src/index.ts". */
  readonly doing:
    | "reads"
    | "lists"
    | "searches"
    | "edits"
    | "writes"
    | "deletes"
    | "moves"
    | "checks"
    | "runs"
    | "asks"
    | "submits";
  /** The arguments that are paths of files it changes: `policy.write` decides about them. */
  readonly writes?: readonly string[];
  /** `policy.checks` decides about its `name`. */
  readonly runsCheck?: true;
  readonly description: (contract: Contract) => string;
  /** JSON Schema of its arguments. */
  readonly input: (contract: Contract) => JsonObject;
  /**
   * `once`: the call must not be repeated in silence when a crash or an error leaves its outcome unknown. Then an error
   * that `run` throws means "unknown", unless it is `DidNotHappen`. Default: `repeatable`.
   */
  readonly effect?: ToolEffect;
  /** It may change any file; what it may not change is put back. */
  readonly changesFiles?: true;
  /** Offered only to a persona whose `tools` name it, or whose other keys need it. */
  readonly mustBeNamed?: true;
  /** A person's answer is its result, and `run` is never called. */
  readonly asksPerson?: true;
  /** Gets arguments that fit the schema; gives a text of bounded length. Without it the call ends the conversation. */
  readonly run?: (args: ToolArguments, ports: ToolPorts) => Promise<string | ToolDone>;
}

export type ToolEffect = "repeatable" | "once";

const text = (description: string, more: JsonObject = {}): JsonObject => ({
  type: "string",
  description,
  ...more,
});
const path = text("Relative to the root of the project, for example src/index.ts.", { minLength: 1 });
const pattern = text("A text to find as it stands, or a regular expression between slashes: /^export /.", {
  minLength: 1,
});
const glob = text("Only paths that match, for example src/**/*.ts.", { minLength: 1 });
const line = (description: string): JsonObject => ({ type: "integer", minimum: 1, description });

const object = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: "object",
  properties,
  required,
  additionalProperties: false,
});

const always =
  <T>(value: T): (() => T) =>
  () =>
    value;

/**
 * Every tool of a model persona: what the model reads, what governance and the team file know, what it does. The order,
 * descriptions and schemas are part of what a recorded call is found again by, so they are written by hand.
 */
const table = {
  read_file: {
    doing: "reads",
    description: always("Reads a text file, in pages of at most 2,000 lines or 64 KiB."),
    input: always(
      object({ path, from: line("The first line to read."), lines: line("How many lines.") }, ["path"]),
    ),
    run: async ({ path, from, lines }, { files }) =>
      textPage(await files.readText(path as string), from as number | undefined, lines as number | undefined),
  },
  list_files: {
    doing: "lists",
    description: always("Lists the files of the project."),
    input: always(object({ glob }, [])),
    run: async ({ glob }, { files }) => {
      const paths = files.list(glob as string | undefined);
      if (paths.length === 0) return glob === undefined ? "[there are no files yet]" : "[no file matches]";
      const more = paths.length - maxPaths;
      return paths.slice(0, maxPaths).join("\n") + (more > 0 ? `\n[and ${more} more; narrow the glob]` : "");
    },
  },
  search_files: {
    doing: "searches",
    description: always("Searches all text files, line by line."),
    input: always(object({ pattern, glob }, ["pattern"])),
    run: async ({ pattern, glob }, { files }) => {
      const matches = await files.search(pattern as string, glob as string | undefined);
      if (matches.length === 0) return "[no match]";
      const shown = matches
        .slice(0, maxMatches)
        .map(({ path, line, text }) => `${path}:${line}: ${cut(text)}`);
      const more =
        matches.length >= maxMatches ? "\n[there may be more; narrow the pattern or the glob]" : "";
      return shown.join("\n") + more;
    },
  },
  edit_file: {
    doing: "edits",
    writes: ["path"],
    description: always(
      "Replaces passages of an existing file, all or none of them. Each passage to find must occur exactly once unless `all` is true.",
    ),
    input: always(
      object(
        {
          path,
          edits: {
            type: "array",
            minItems: 1,
            maxItems: 100,
            items: object(
              {
                find: text("The passage as it stands in the file, to the letter.", { minLength: 1 }),
                replace: text("What takes its place."),
                all: { type: "boolean", description: "Every occurrence." },
              },
              ["find", "replace"],
            ),
          },
        },
        ["path", "edits"],
      ),
    ),
    run: async ({ path, edits }, { files }) => {
      const wanted = edits as unknown as readonly FileEdit[];
      const { rewriteBytes, editBytes } = await files.edit(path as string, wanted);
      const count = `${wanted.length} ${wanted.length === 1 ? "edit" : "edits"}`;
      return { output: `edited ${path as string}: ${count} made`, edit: { rewriteBytes, editBytes } };
    },
  },
  write_file: {
    doing: "writes",
    writes: ["path"],
    description: always("Writes a whole file. Small changes to an existing file are made with edit_file."),
    input: always(object({ path, content: text("The whole content.") }, ["path", "content"])),
    run: ({ path, content }, { files, adviseEdit }) =>
      writeFile(files, adviseEdit, path as string, content as string),
  },
  delete_file: {
    doing: "deletes",
    writes: ["path"],
    description: always("Deletes a file."),
    input: always(object({ path }, ["path"])),
    run: async ({ path }, { files }) => {
      await files.remove(path as string);
      return `deleted ${path as string}`;
    },
  },
  move_file: {
    doing: "moves",
    writes: ["from", "to"],
    description: always(
      "Moves or renames a file with its mode. Files that refer to it stay as they are: edit them.",
    ),
    input: always(object({ from: path, to: path }, ["from", "to"])),
    run: async ({ from, to }, { files }) => {
      await files.move(from as string, to as string);
      return `moved ${from as string} to ${to as string}`;
    },
  },
  run_check: {
    doing: "checks",
    runsCheck: true,
    description: ({ checks }) =>
      checks.length === 0
        ? "Runs a check of your contract. It has none."
        : `Runs a check of your contract on the files as they are now. Checks: ${checks.map(({ name }) => name).join(", ")}.`,
    input: always(object({ name: text("The check's name.") }, ["name"])),
    run: async ({ name }, { contract, runCheck, signal }) => {
      const names = contract.checks.map((check) => check.name);
      if (names.includes(name as string)) {
        const result = await runCheck(name as string, signal);
        const { output } = result;
        return { output: checkReport(result), ...(output !== undefined && { artifact: output }) };
      }
      throw new InputInvalid(
        `The contract has no check "${name as string}".${didYouMean(name as string, names)}`,
        {
          advice: names.length === 0 ? "It has no checks at all." : `Its checks: ${names.join(", ")}.`,
        },
      );
    },
  },
  run_command: {
    doing: "runs",
    mustBeNamed: true,
    changesFiles: true,
    description: always(runCommandDescription),
    input: always(
      object(
        {
          command: text("A line for the shell, for example npm test -- --watch=false.", { minLength: 1 }),
          argv: {
            type: "array",
            minItems: 1,
            maxItems: 1000,
            items: { type: "string" },
            description: "A program and its arguments, without a shell.",
          },
          timeoutMs: {
            type: "integer",
            minimum: 1,
            description: "How long it may take. The team may allow less.",
          },
        },
        [],
      ),
    ),
    run: (args, { runProgram }) => runCommandTool(args, runProgram),
  },
  read_skill: {
    doing: "reads",
    mustBeNamed: true,
    description: always(
      "Reads a skill: its instructions and the list of its files, or one of them. In pages of at most 2,000 lines or 64 KiB.",
    ),
    input: always(
      object(
        {
          name: text("The skill's name.", { minLength: 1 }),
          path: text("A file of the skill, as its instructions or its list name it.", { minLength: 1 }),
          from: line("The first line to read."),
          lines: line("How many lines."),
        },
        ["name"],
      ),
    ),
    run: async ({ name, path, from, lines }, { readSkill }) => {
      if (readSkill === undefined) throw new InputInvalid("You have no skills.");
      const content = await readSkill(name as string, path as string | undefined);
      return textPage(content, from as number | undefined, lines as number | undefined);
    },
  },
  fetch_url: {
    doing: "reads",
    mustBeNamed: true,
    description: always("Reads a page of the web as text, by GET. Links have their addresses behind them."),
    input: always(
      object({ url: text("The whole address, with https://.", { minLength: 1, maxLength: 2000 }) }, ["url"]),
    ),
    run: (args, { fetchUrl, keepText, signal }) => fetchUrlTool(args, fetchUrl, keepText, signal),
  },
  ask_person: {
    doing: "asks",
    mustBeNamed: true,
    asksPerson: true,
    description: always(
      "Asks a person, and waits until one has answered. Ask only for what you cannot find out yourself.",
    ),
    input: always(
      object(
        {
          question: text("The question, with all that is needed to answer it.", {
            minLength: 1,
            maxLength: 10_000,
          }),
          choices: {
            type: "array",
            minItems: 2,
            maxItems: 20,
            uniqueItems: true,
            items: { type: "string", minLength: 1, maxLength: 500 },
            description: "The answers to choose from. Without them any text is an answer.",
          },
        },
        ["question"],
      ),
    ),
    run: async ({ question }) => {
      throw new Error(`No person has answered: ${question as string}`);
    },
  },
  submit: {
    doing: "submits",
    description: always("Ends your work. Call it once, when everything is done."),
    input: ({ outputs }) =>
      object(
        {
          summary: text("What you did, for people and for the personas after you.", { minLength: 1 }),
          decisions: {
            type: "array",
            maxItems: 100,
            items: object(
              {
                decision: text("What you chose.", { minLength: 1 }),
                reason: text("Why."),
                rejected: { type: "array", maxItems: 20, items: { type: "string" } },
              },
              ["decision", "reason"],
            ),
          },
          outputs: outputs ?? { type: "object", description: "Named results for those who come after you." },
        },
        outputs === undefined ? ["summary"] : ["summary", "outputs"],
      ),
  },
} as const satisfies Record<string, Tool>;

export type ToolName = keyof typeof table;
export const tools: Readonly<Record<ToolName, Tool>> = table;
export const toolNames = Object.keys(table) as readonly ToolName[];
/** The tools of a persona that names none. */
export const defaultTools = toolNames.filter((name) => tools[name].mustBeNamed !== true);

/** The tools that prompts, the simulated model and the end of an attempt are about. */
export const namedTools = {
  edit: "edit_file",
  write: "write_file",
  check: "run_check",
  command: "run_command",
  skill: "read_skill",
  fetch: "fetch_url",
  ask: "ask_person",
  submit: "submit",
} as const satisfies Record<string, ToolName>;

export const isTool = (name: string): name is ToolName => Object.hasOwn(table, name);

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

/** A file that is no text may be replaced. */
async function readable(files: ToolFiles, path: string): Promise<string | undefined> {
  try {
    return await files.readText(path);
  } catch (error) {
    if (InputInvalid.is(error)) return undefined;
    throw error;
  }
}

const cut = (text: string): string =>
  text.length <= maxLineLength ? text : `${text.slice(0, maxLineLength).toWellFormed()}…`;
