import { redact } from "../../domain/redact.ts";

const longest = 60;

/** A value as an error message shows it: short, on one line, and without secrets. */
export function shown(value: unknown): string {
  if (typeof value === "string") return quoted(value);
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "an object";
  if (value === null) return "empty";
  const isPlain = typeof value === "number" || typeof value === "boolean" || typeof value === "bigint";
  return isPlain ? String(value) : `a value of type ${typeof value}`;
}

/** Cut before redaction, so that a long text costs no more than a short one. */
function quoted(text: string): string {
  const start = redact(text.slice(0, 4 * longest));
  return JSON.stringify(start.length > longest ? `${start.slice(0, longest)}…` : start);
}
