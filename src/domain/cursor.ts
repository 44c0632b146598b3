/** The place of an entry in a list, in the store's own format. Callers only pass it back to get the next page. */
export type Cursor = string & { readonly cursorOf: "list" };

/**
 * A place in the journal of all sessions: a whole number of up to 18 digits, as text. Later rows have higher
 * positions, with gaps.
 */
export type Position = string & { readonly cursorOf: "journal" };

/** Before the first row of any journal. */
export const startPosition = "0" as Position;

/** Undefined if no store writes such a text. */
export const readPosition = (text: string): Position | undefined =>
  /^(?:0|[1-9]\d{0,17})$/.test(text) ? (text as Position) : undefined;

/** Negative if the first is before the second. */
export function comparePositions(one: Position, other: Position): number {
  if (one === other) return 0;
  return one.length - other.length || (one < other ? -1 : 1);
}
