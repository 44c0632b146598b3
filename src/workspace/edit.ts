import { treeLimits } from "../domain/tree-path.ts";
import {
  type EditRefusal,
  maxCountedGuesses,
  maxCountedPlaces,
  refuseAmbiguous,
  refuseInput,
  refuseNotFound,
  type Turn,
} from "./edit-refusal.ts";
import { findExactly, findTolerantly } from "./find-places.ts";
import { countLines, type Replacement, replaceIn, restore, type UnifiedText, unify } from "./text.ts";

export interface Edit {
  readonly find: string;
  readonly replace: string;
  /** Replace every occurrence. Otherwise there must be exactly one. */
  readonly all?: boolean | undefined;
}

/** How the text was found: exactly, with other line ends, or with other indentation or trailing spaces. */
export type EditRung = "exact" | "line-ends" | "whitespace";

interface AppliedEdit {
  readonly rung: EditRung;
  /** Number of replaced places. */
  readonly places: number;
  /** The ranges of new lines, from 1, both ends inclusive, as they were right after this edit. */
  readonly lines: readonly (readonly [from: number, to: number])[];
}

export interface EditReport {
  readonly edits: readonly AppliedEdit[];
  readonly linesChanged: number;
  /** The bytes needed to write the whole file again. */
  readonly rewriteBytes: number;
  /** The bytes that the edits took. */
  readonly editBytes: number;
}

type EditResult =
  | { readonly kind: "applied"; readonly text: string; readonly report: EditReport }
  | EditRefusal;

export const editLimits = {
  maxEdits: 100,
  maxFindLength: 64 * 1024,
  maxPlaces: 50_000,
  maxShownPlaces: 20,
} as const;

const byteOrderMark = "\ufeff";

/**
 * Applies the edits in order, each to the result of the previous one, all or none. Line ends, byte order mark and
 * the end of the file stay unchanged wherever nothing was replaced.
 */
export function applyEdits(text: string, edits: readonly Edit[]): EditResult {
  const wrong = wrongInput(edits);
  if (wrong !== undefined) return wrong;
  const mark = text.startsWith(byteOrderMark) ? byteOrderMark : "";
  const original = unify(text.slice(mark.length));
  let body: UnifiedText = original.text.includes("\n") ? original : { ...original, ends: firstEndIn(edits) };
  const applied: AppliedEdit[] = [];
  let linesChanged = 0;
  for (const [index, edit] of edits.entries()) {
    const bare = unmarked(edit, mark);
    const found = findPlaces(body.text, bare, { index, count: edits.length, original: original.text });
    if (found.kind === "refused") return found;
    const { replacements } = found;
    if (newLength(body.text, replacements) > treeLimits.maxFileBytes) {
      return refuseInput(index, "the file would become too large", "Replace fewer places.");
    }
    applied.push({
      rung: found.rung === "exact" && !endsAgree(body, edit.find) ? "line-ends" : found.rung,
      places: replacements.length,
      lines: newLines(body.text, replacements),
    });
    linesChanged += replacements.reduce((sum, each) => sum + changedLines(body.text, each), 0);
    body = replaceIn(body, replacements);
  }
  const edited = mark + restore(body);
  const editBytes = edits.reduce((sum, { find, replace }) => sum + bytesOf(find) + bytesOf(replace), 0);
  const report = { edits: applied, linesChanged, rewriteBytes: bytesOf(edited), editBytes };
  return { kind: "applied", text: edited, report };
}

type Found = {
  readonly kind: "found";
  readonly rung: EditRung;
  readonly replacements: readonly Replacement[];
};

/**
 * Searches exactly first, then ignoring spaces at both ends of lines. Each match must be unique; otherwise it
 * returns the reason.
 */
function findPlaces(text: string, edit: Edit, turn: Turn): Found | EditRefusal {
  const all = edit.all === true;
  const exact = findExactly(text, edit, all ? editLimits.maxPlaces + 1 : maxCountedPlaces);
  if (exact.length > editLimits.maxPlaces) {
    return refuseInput(turn.index, "the text to find is in too many places", "Look for a longer text.");
  }
  if (exact.length === 1 || (all && exact.length > 0)) {
    return { kind: "found", rung: "exact", replacements: exact };
  }
  if (exact.length > 1) return refuseAmbiguous(text, exact, turn, "exact");
  const tolerant = findTolerantly(text, edit, maxCountedGuesses);
  // A tolerant match replaces one place, even if every occurrence is wanted.
  if (tolerant.length === 1) return { kind: "found", rung: "whitespace", replacements: tolerant };
  if (tolerant.length > 1) return refuseAmbiguous(text, tolerant, turn, "whitespace");
  return refuseNotFound(text, edit.find, turn);
}

function wrongInput(edits: readonly Edit[]): EditRefusal | undefined {
  if (edits.length === 0) return refuseInput(0, "there are no edits", "Give at least one.");
  if (edits.length > editLimits.maxEdits) {
    return refuseInput(0, `there are more than ${editLimits.maxEdits} edits`, "Make several calls.");
  }
  const empty = edits.findIndex(({ find }) => find === "");
  if (empty !== -1) {
    const advice =
      "Find the line next to where the text belongs, and replace it with itself and the new text.";
    return refuseInput(empty, "the text to find is empty", advice);
  }
  const long = edits.findIndex(({ find }) => find.length > editLimits.maxFindLength);
  if (long === -1) return undefined;
  const why = `the text to find is longer than ${editLimits.maxFindLength} characters`;
  return refuseInput(long, why, "Find only the lines that change.");
}

/** Readers do not see the byte order mark, so `find` may omit it. */
function unmarked({ find, replace, all }: Edit, mark: string): Edit {
  const bare = (part: string) => (mark !== "" && part.startsWith(mark) ? part.slice(mark.length) : part);
  const lines = (part: string) => bare(part).replaceAll("\r\n", "\n");
  return { find: lines(find), replace: lines(replace), all };
}

/** A file of one line has no line ends to keep, so it takes those of the first edit that has one. */
function firstEndIn(edits: readonly Edit[]): "\n" | "\r\n" {
  const first = edits.find(({ replace }) => replace.includes("\n"))?.replace ?? "";
  return first[first.indexOf("\n") - 1] === "\r" ? "\r\n" : "\n";
}

function endsAgree(body: UnifiedText, find: string): boolean {
  if (!find.includes("\n")) return true;
  if (typeof body.ends !== "string") return restore(body).includes(find);
  return find === find.replaceAll("\r\n", "\n").replaceAll("\n", body.ends);
}

function newLength(text: string, replacements: readonly Replacement[]): number {
  return replacements.reduce((sum, { start, end, text }) => sum + text.length - (end - start), text.length);
}

function newLines(text: string, replacements: readonly Replacement[]): (readonly [number, number])[] {
  let line = 1;
  let at = 0;
  return replacements.slice(0, editLimits.maxShownPlaces).map(({ start, end, text: added }) => {
    const from = line + countLines(text, at, start);
    line = from + countLines(added, 0, added.length);
    at = end;
    return [from, added.endsWith("\n") ? line - 1 : line];
  });
}

function changedLines(text: string, { start, end, text: added }: Replacement): number {
  const count = (part: string) => countLines(part, 0, part.length) + (part.endsWith("\n") ? 0 : 1);
  return Math.max(count(text.slice(start, end)), count(added));
}

const bytesOf = (text: string): number => Buffer.byteLength(text);
