import { isJsonObject, type Json } from "../../domain/json.ts";
import { checkBasePath } from "../../domain/tree-path.ts";
import {
  type ContextFile,
  type GivenFile,
  notesFile,
  type SkillDefinition,
  skillFile,
} from "../../personas/guidance.ts";
import { optional } from "./fields.ts";
import { GivenFault, type GivenFiles, isDescription, isSkillName } from "./given-files.ts";
import { itemsOf, type Kind } from "./kinds.ts";
import type { Place } from "./place.ts";
import { shown } from "./shown.ts";

const most = 50;
const pathSchema = { type: "string", minLength: 1, maxLength: 1_000 };

/** A team in code may name a place relative to its module: `new URL("./skills/review", import.meta.url)`. */
type WrittenPath = string | URL;

interface GivenKind<T> {
  readonly allowed: string;
  readonly read: (files: GivenFiles, written: WrittenPath) => T;
  /** Reads a recorded definition from outside, for which nothing is read from the disk. */
  readonly recorded: (value: Json) => T | undefined;
  /** Names must be unique within a list. */
  readonly nameOf: (one: T) => string;
}

function givenList<T>({
  allowed,
  read,
  recorded,
  nameOf,
}: GivenKind<T>): Kind<readonly T[], readonly WrittenPath[]> {
  const one = (value: unknown, place: Place): T | undefined => {
    const { files } = place.problems;
    if (files === undefined) {
      const known = recorded(value as Json);
      if (known === undefined) place.problem(`is ${shown(value)}, which no session records.`);
      return known;
    }
    if (!(value instanceof URL) && (typeof value !== "string" || value === "" || value.includes("\0"))) {
      place.problem(`is ${shown(value)}; it must be ${allowed}.`);
      return undefined;
    }
    try {
      return read(files, value);
    } catch (error) {
      if (!(error instanceof GivenFault)) throw error;
      place.problem(`is ${shown(String(value))}: ${error.message}`);
      return undefined;
    }
  };
  return {
    allowed: `a list, each ${allowed}`,
    schema: { type: "array", items: pathSchema, maxItems: most },
    read: (value, place) => {
      const all = itemsOf(value, place, `a list, each ${allowed}`, most)?.map(([item, at]) => ({
        one: one(item, at),
        at,
      }));
      const seen = new Set<string>();
      return all?.flatMap(({ one, at }) => {
        if (one === undefined) return [];
        const name = nameOf(one).toLowerCase();
        if (seen.has(name)) at.problem(`has the name ${shown(nameOf(one))}, as another one before it.`);
        seen.add(name);
        return [one];
      });
    },
  };
}

const skillList = givenList<SkillDefinition>({
  allowed: `the folder of a skill, with a ${skillFile}`,
  read: (files, written) => files.skill(written),
  recorded: (value) => {
    if (!isJsonObject(value) || !Array.isArray(value["files"])) return undefined;
    const { name, description } = value;
    const files = (value["files"] as readonly Json[]).map(recordedFile);
    if (!isSkillName(name) || !isDescription(description) || !files.every((file) => file !== undefined))
      return undefined;
    return files.some(({ path }) => path === skillFile) ? { name, description, files } : undefined;
  },
  nameOf: ({ name }) => name,
});

const contextList = givenList<ContextFile>({
  allowed: "a text file",
  read: (files, written) => files.context(written),
  recorded: (value) => {
    if (isJsonObject(value) && value["sha256"] === undefined && value["path"] === notesFile)
      return { path: notesFile };
    return recordedFile(value);
  },
  nameOf: ({ path }) => path,
});

function recordedFile(value: Json): GivenFile | undefined {
  if (!isJsonObject(value)) return undefined;
  const { path, sha256, bytes } = value;
  const isFile =
    typeof path === "string" &&
    isSafe(path) &&
    typeof sha256 === "string" &&
    /^[0-9a-f]{64}$/.test(sha256) &&
    Number.isSafeInteger(bytes) &&
    (bytes as number) >= 0;
  return isFile ? { path, sha256, bytes: bytes as number } : undefined;
}

function isSafe(path: string): boolean {
  try {
    return checkBasePath(path) === path;
  } catch {
    return false;
  }
}

/** Keys of a persona that is a model or an agent. */
export const guidanceKeys = {
  skills: optional(skillList, {
    sentence: `Folders with a \`${skillFile}\`. The prompt has the name and description of each, and the model reads the rest when its work needs it.`,
    example: ["./skills/review"],
    otherwise: "none",
  }),
  context: optional(contextList, {
    sentence: `Text files that are part of its prompt. The \`${notesFile}\` of the session's repository comes besides, unless the list is empty.`,
    example: [notesFile, "docs/style.md"],
    otherwise: `the \`${notesFile}\` of the session's repository`,
  }),
};
