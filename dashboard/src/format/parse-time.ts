/** A time that may be missing or damaged, as a list of none or one. */
export function parseTime(at: string | null | undefined): number[] {
  const parsed = at == null ? Number.NaN : Date.parse(at);
  return Number.isNaN(parsed) ? [] : [parsed];
}
