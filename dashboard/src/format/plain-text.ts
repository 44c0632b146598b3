/**
 * Makes text from models, tools and people safe to show. The page always inserts it as text, so markup has no
 * effect. This removes the codes that color terminals and the invisible characters that reorder or hide text.
 */

// oxlint-disable-next-line no-control-regex -- terminal codes are exactly that
const terminalCodes = /\u001b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)|[@-Z\\-_])/g;
// oxlint-disable-next-line no-control-regex
const controls = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f]/g;
/** Overrides and isolates reorder the rest of a line. Zero-width characters hide in names. */
const reordering = /[\u202a-\u202e\u2066-\u2069\u200b\u200e\u200f\u2060\ufeff]/g;

/** For several lines: newlines and tabs stay. Other control characters are removed or shown by their code. */
export function plainText(text: string): string {
  return text
    .replace(/\r\n?/g, "\n")
    .replace(terminalCodes, "")
    .replace(controls, "")
    .replace(reordering, visible)
    .toWellFormed();
}

/** One line for rows, titles and announcements, at most `length` characters. */
export function oneLine(text: string, length = 300): string {
  const line = plainText(text.slice(0, length * 4))
    .replace(/\s+/g, " ")
    .trim();
  return line.length <= length
    ? line
    : `${line
        .slice(0, length - 1)
        .toWellFormed()
        .trimEnd()}…`;
}

const visible = (character: string): string => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
