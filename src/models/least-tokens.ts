/** Words come to four bytes or five, code with deep indentation to eight; only long rows of one sign to more than this. */
const mostBytesPerToken = 20;
/** What is around the words of a short call may be nothing to its provider. */
const freeBytes = 2_000;

/** Of so many bytes of text there are never fewer tokens: whoever says so has not counted, and would pass every budget. */
export function leastTokens(textBytes: number): number {
  return Math.max(1, Math.floor((textBytes - freeBytes) / mostBytesPerToken));
}
