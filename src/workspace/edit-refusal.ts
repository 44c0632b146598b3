import { closestRegion } from "./closest-region.ts";
import { countLines, type Replacement } from "./line-ends.ts";
import { cutLine } from "./text.ts";

/** Nothing was changed. */
export interface EditRefusal {
  readonly kind: "refused";
  /** Which edit, from 1. */
  readonly edit: number;
  readonly reason: "input" | "not-found" | "ambiguous";
  readonly message: string;
  readonly advice: string;
}

/** Which of the edits of a call it is. */
export interface Turn {
  readonly index: number;
  readonly count: number;
  /** The text before the first edit. */
  readonly original: string;
}

const maxShownLines = 12;
const maxShownPlaces = 10;
/** More occurrences than this are not counted. */
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
