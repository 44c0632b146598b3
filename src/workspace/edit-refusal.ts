import { countLines, cutLine, type Replacement } from "./text.ts";

/** Nothing was changed. */
export interface EditRefusal {
  readonly kind: "refused";
  /** The number of the edit, from 1. */
  readonly edit: number;
  readonly reason: "input" | "not-found" | "ambiguous";
  readonly message: string;
  readonly advice: string;
}

/** The position of an edit in its call. */
export interface Turn {
  readonly index: number;
  readonly count: number;
  /** The text before the first edit. */
  readonly original: string;
}

const maxShownLines = 12;
const maxShownPlaces = 10;
/** Occurrences beyond this are not counted. */
export const maxCountedPlaces = 1000;
export const maxCountedGuesses = 10;

export function refuseInput(index: number, why: string, advice: string): EditRefusal {
  return { kind: "refused", edit: index + 1, reason: "input", message: `${why}.`, advice };
}

export function refuseAmbiguous(
  text: string,
  places: readonly Replacement[],
  turn: Turn,
  rung: "exact" | "whitespace",
): EditRefusal {
  const numbers = places.slice(0, maxShownPlaces).map(({ start }) => countLines(text, 0, start) + 1);
  const more = places.length > numbers.length ? " and others" : "";
  const isAll = places.length < (rung === "exact" ? maxCountedPlaces : maxCountedGuesses);
  const count = `${isAll ? "" : "at least "}${places.length}`;
  const times = `${count} times, at lines ${numbers.join(", ")}${more}`;
  const message =
    rung === "exact"
      ? `the text to find is there ${times}.`
      : `the text to find is not there as written; ignoring indentation it is there ${times}.`;
  const advice =
    rung === "exact"
      ? "Add lines around it until it is unique, or set all to true to replace every one."
      : "Copy the lines exactly as the file has them, with enough lines around them to be unique.";
  return {
    kind: "refused",
    edit: turn.index + 1,
    reason: "ambiguous",
    message: which(turn) + message,
    advice,
  };
}

export function refuseNotFound(text: string, find: string, turn: Turn): EditRefusal {
  const isGone = turn.index > 0 && turn.original.includes(find);
  const why = isGone
    ? "the text to find was there, but an earlier edit of this call changed it."
    : missing(text);
  return {
    kind: "refused",
    edit: turn.index + 1,
    reason: "not-found",
    message: which(turn) + why + closest(text, find),
    advice: isGone
      ? "Edits are applied in order: find what the earlier ones left, or make them one."
      : "Copy the text exactly as the file has it, without line numbers.",
  };
}

const missing = (text: string): string =>
  text === "" ? "the file is empty." : "the text to find is not in the file.";

const which = ({ index, count }: Turn): string => (count === 1 ? "" : `edit ${index + 1} of ${count}: `);

function closest(text: string, find: string): string {
  const lines = text.split("\n");
  const region = closestRegion(lines, find.replace(/\n$/, "").split("\n"));
  if (region === undefined) return "";
  const to = Math.min(region.to, region.from + maxShownLines - 1);
  const shown = lines
    .slice(region.from - 1, to)
    .map((line, index) => `${region.from + index} | ${cutLine(line)}`);
  const cut = to < region.to ? [`… (up to line ${region.to})`] : [];
  return [" The closest to it is:", ...shown, ...cut].join("\n");
}

/** Lines of a file, numbered from 1, both ends inclusive. */
interface Region {
  readonly from: number;
  readonly to: number;
}

/** Bounds that keep a miss in a large file as cheap as a hit. */
const maxWantedLines = 200;
const maxLines = 200_000;
/** A more frequent line does not help to locate the region. */
const maxVotesOfLine = 1000;
const maxComparedLength = 200;
const maxComparedTotal = 2_000_000;
/** Minimum share of the wanted lines' weight, or of the similarity of two lines. */
const leastAgreement = 0.3;
const leastLikeness = 0.5;

/** The region most similar to the wanted lines; undefined if several are equally good or none is similar. */
function closestRegion(lines: readonly string[], wanted: readonly string[]): Region | undefined {
  const shown = wanted.slice(0, maxWantedLines).map((line) => line.trim());
  const total = shown.reduce((sum, line) => sum + weightOf(line), 0);
  const agreed = mostAgreed(lines, shown);
  const start =
    agreed !== undefined && agreed.weight >= leastAgreement * total
      ? agreed.start
      : (mostAlike(lines, shown) ?? agreed?.start);
  if (start === undefined) return undefined;
  const from = Math.max(0, start);
  return { from: from + 1, to: Math.max(from + 1, Math.min(lines.length, start + wanted.length)) };
}

/** Each wanted line that the file contains votes for where the region begins. */
function mostAgreed(
  lines: readonly string[],
  wanted: readonly string[],
): { readonly start: number; readonly weight: number } | undefined {
  const places = Map.groupBy(wanted.keys(), (index) => wanted[index] ?? "");
  places.delete("");
  const votes = new Map<number, number>();
  const cast = new Map<string, number>();
  for (const [index, line] of lines.slice(0, maxLines).entries()) {
    const trimmed = line.trim();
    const here = places.get(trimmed);
    const count = (cast.get(trimmed) ?? 0) + (here?.length ?? 0);
    if (here === undefined || count > maxVotesOfLine) continue;
    cast.set(trimmed, count);
    for (const place of here) {
      votes.set(index - place, (votes.get(index - place) ?? 0) + weightOf(trimmed));
    }
  }
  const best = onlyBest(votes);
  return best && { start: best[0], weight: best[1] };
}

/** By the longest wanted line, which is the most distinctive. */
function mostAlike(lines: readonly string[], wanted: readonly string[]): number | undefined {
  const anchor = wanted.reduce((a, b) => (b.length > a.length ? b : a), "").slice(0, maxComparedLength);
  const pairs = pairsOf(anchor);
  if (pairs.size === 0) return undefined;
  const likeness = new Map<number, number>();
  let compared = 0;
  for (const [index, line] of lines.slice(0, maxLines).entries()) {
    const other = line.trim().slice(0, maxComparedLength);
    compared += other.length;
    if (compared > maxComparedTotal) break;
    const alike = likenessOf(pairs, pairsOf(other));
    if (alike >= leastLikeness) likeness.set(index, alike);
  }
  const best = onlyBest(likeness);
  return best && best[0] - wanted.findIndex((line) => line.slice(0, maxComparedLength) === anchor);
}

function onlyBest(scores: ReadonlyMap<number, number>): readonly [number, number] | undefined {
  let best: readonly [number, number] | undefined;
  let isOnly = false;
  for (const entry of scores) {
    if (best !== undefined && entry[1] < best[1]) continue;
    isOnly = best === undefined || entry[1] > best[1];
    best = entry;
  }
  return isOnly ? best : undefined;
}

/** A brace alone says little about its place. */
const weightOf = (line: string): number => Math.min(line.length, 40);

function pairsOf(text: string): Set<number> {
  const pairs = new Set<number>();
  for (let at = 1; at < text.length; at += 1)
    pairs.add(text.charCodeAt(at - 1) * 65_536 + text.charCodeAt(at));
  return pairs;
}

function likenessOf(a: ReadonlySet<number>, b: ReadonlySet<number>): number {
  let common = 0;
  for (const pair of b) if (a.has(pair)) common += 1;
  return (2 * common) / (a.size + b.size);
}
