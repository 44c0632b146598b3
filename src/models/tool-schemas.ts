import type { Contract } from "../domain/contract.ts";
import type { Json, JsonObject } from "../domain/json.ts";

export const toolNames = [
  "read_file",
  "list_files",
  "search_files",
  "edit_file",
  "write_file",
  "run_check",
  "submit",
] as const;
export type ToolName = (typeof toolNames)[number];

export interface ToolSchema {
  readonly description: string;
  readonly input: JsonObject;
}

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

/** Written by hand: they are part of what a recorded call is found again by, and must not change with a library. */
const fileTools = {
  read_file: {
    description: "Reads a text file, in pages of at most 2,000 lines or 64 KiB.",
    input: object({ path, from: line("The first line to read."), lines: line("How many lines.") }, ["path"]),
  },
  list_files: { description: "Lists the files of the project.", input: object({ glob }, []) },
  search_files: {
    description: "Searches all text files, line by line.",
    input: object({ pattern, glob }, ["pattern"]),
  },
  edit_file: {
    description:
      "Replaces passages of an existing file, all or none of them. Each passage to find must occur exactly once unless `all` is true.",
    input: object(
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
  },
  write_file: {
    description: "Writes a whole file. Small changes to an existing file are made with edit_file.",
    input: object({ path, content: text("The whole content.") }, ["path", "content"]),
  },
} as const satisfies Partial<Record<ToolName, ToolSchema>>;

export function toolSchemas({ checks, outputs }: Contract): Readonly<Record<ToolName, ToolSchema>> {
  const anyOutputs: Json = { type: "object", description: "Named results for those who come after you." };
  const checkNames = checks.map(({ name }) => name).join(", ");
  return {
    ...fileTools,
    run_check: {
      description:
        checks.length === 0
          ? "Runs a check of your contract. It has none."
          : `Runs a check of your contract on the files as they are now. Checks: ${checkNames}.`,
      input: object({ name: text("The check's name.") }, ["name"]),
    },
    submit: {
      description: "Ends your work. Call it once, when everything is done.",
      input: object(
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
          outputs: outputs ?? anyOutputs,
        },
        outputs === undefined ? ["summary"] : ["summary", "outputs"],
      ),
    },
  };
}
