/** "3,193" */
export const count = (value: number): string => value.toLocaleString("en-US");

/** "1 persona", "2 personas", "1,000 personas" */
export function counted(value: number, one: string, many = `${one}s`): string {
  return `${count(value)} ${value === 1 ? one : many}`;
}

/** 834, 9.8k, 61.2k, 250k, 1.2M: three digits are enough for comparison. */
export function tokens(value: number): string {
  if (value < 1000) return String(Math.round(value));
  const [divisor, unit] = value < 999_500 ? [1000, "k"] : value < 999_500_000 ? [1e6, "M"] : [1e9, "B"];
  const scaled = value / divisor;
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)}${unit}`;
}

const byteUnits = ["bytes", "kB", "MB", "GB", "TB"] as const;

/** "214 bytes", "1.2 MB" */
export function bytes(value: number): string {
  let unit = 0;
  let scaled = value;
  while (scaled >= 999.5 && unit < byteUnits.length - 1) {
    scaled /= 1000;
    unit += 1;
  }
  if (unit === 0) return value === 1 ? "1 byte" : `${value} bytes`;
  return `${scaled < 99.95 ? scaled.toFixed(1) : Math.round(scaled)} ${byteUnits[unit]}`;
}

/** "implementation", "implementation and testing", "a, b and c" */
export function listed(names: readonly string[]): string {
  if (names.length <= 1) return names[0] ?? "";
  return `${names.slice(0, -1).join(", ")} and ${names.at(-1)}`;
}

/** A gate's score: 0.86 */
export const score = (value: number): string => value.toFixed(2);
