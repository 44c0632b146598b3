/** Times as the API has them. */
export function isoTime(at: number): string {
  return new Date(at).toISOString();
}

export function isoTimeOrNull(at: number | null | undefined): string | null {
  return at === null || at === undefined ? null : isoTime(at);
}
