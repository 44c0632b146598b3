import { showPath } from "../domain/tree-path.ts";
import type { LineRange, TextConflict } from "./text-merge.ts";

// Separate from merging, which loads a package that most sessions do not need.

/** Why two personas' changes could not both be kept. */
export type ConflictKind =
  /** Both changed the same lines of a text. */
  | "content"
  /** Both changed a file that is not text or is too large to compare. */
  | "binary"
  | "add-add"
  | "modify-delete"
  /** Both added the same content, as a file, a program or a link. */
  | "mode"
  /** One side has a file where the other has a folder. */
  | "file-folder"
  /** Two paths that differ only in case or Unicode form. */
  | "case"
  /** Together the files would exceed the limits of a tree. */
  | "limit";

export interface Conflict {
  readonly path: string;
  readonly kind: ConflictKind;
  /** Our conflicting path, if it is a different one. */
  readonly other?: string;
  /** For texts: the places of the first conflicts. */
  readonly lines?: readonly TextConflict[];
  /** Hashes. Missing if there is no file. */
  readonly base?: string;
  readonly ours?: string;
  readonly theirs?: string;
  /** The lines of both sides in the first conflict. */
  readonly excerpt?: { readonly ours: string; readonly theirs: string };
}

/** The conflict as feedback. Our side, which was merged first, is now in the persona's workspace. */
export function describeConflict(
  conflict: Conflict,
  ourName: string,
  theirName: string,
  kept = `The workspace has what ${ourName} left`,
): string {
  return [sentence(conflict, { ourName, theirName, kept }), ...excerpts(conflict, ourName, theirName)].join(
    "\n",
  );
}

interface Words {
  readonly ourName: string;
  readonly theirName: string;
  /** Says which version was kept. */
  readonly kept: string;
}

function sentence({ path, kind, other, lines, ours }: Conflict, { ourName, theirName, kept }: Words): string {
  const file = showPath(path);
  switch (kind) {
    case "content":
      return `${file}: ${ourName} and ${theirName} changed the same place differently${where(lines, ourName, theirName)}. ${kept}.`;
    case "binary":
      return `${file}: ${ourName} and ${theirName} changed it differently, and it cannot be merged line by line. ${kept}.`;
    case "add-add":
      return `${file}: ${ourName} and ${theirName} both added it, with different content. ${kept}.`;
    case "modify-delete":
      return ours === undefined
        ? `${file}: ${ourName} removed it, and ${theirName} changed it. ${kept}: no such file.`
        : `${file}: ${ourName} changed it, and ${theirName} removed it. ${kept}.`;
    case "mode":
      return `${file}: ${ourName} and ${theirName} both added it, one as a file, the other as a program or a link. ${kept}.`;
    case "file-folder":
      return `${file} of ${theirName} cannot be there besides ${showPath(other ?? path)} of ${ourName}: one is a file and the other a folder. ${kept}.`;
    case "case":
      return `${file} of ${theirName} differs from ${showPath(other ?? path)} of ${ourName} only in case or Unicode form. ${kept}.`;
    case "limit":
      return `${file} of ${theirName} would make the files more or larger than a workspace may hold. ${kept}.`;
  }
}

function where(lines: readonly TextConflict[] | undefined, ourName: string, theirName: string): string {
  if (lines === undefined) return "";
  const list = (ranges: readonly LineRange[]) => ranges.map(rangeText).join(", ");
  return ` (${ourName}: ${list(lines.map(({ ours }) => ours))}; ${theirName}: ${list(lines.map(({ theirs }) => theirs))})`;
}

function rangeText([from, to]: LineRange): string {
  if (to < from) return `nothing before line ${from}`;
  return from === to ? `line ${from}` : `lines ${from} to ${to}`;
}

function excerpts({ excerpt }: Conflict, ourName: string, theirName: string): string[] {
  if (excerpt === undefined) return [];
  return [`${ourName}:`, quoted(excerpt.ours), `${theirName}:`, quoted(excerpt.theirs)];
}

/** Keeps lines of a file from looking like lines of the message. */
const quoted = (text: string): string =>
  text === ""
    ? "  (nothing)"
    : text
        .split("\n")
        .map((line) => `  | ${line}`)
        .join("\n");
