/** Prose has four or five bytes a token, deeply indented code eight; only long rows of one character have more. */
const mostBytesPerToken = 20;
/** A provider may not count the JSON around the text of a short call. */
const freeBytes = 2_000;

/** The least tokens of so many bytes of text. A smaller report is no count, and would pass every budget. */
export function leastTokens(textBytes: number): number {
  return Math.max(1, Math.floor((textBytes - freeBytes) / mostBytesPerToken));
}
