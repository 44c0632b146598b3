import { redact, redactedMark } from "../domain/redact.ts";
import { isSecretName } from "../domain/secret-name.ts";

/** Terminal colors, control characters, and marks that make text read differently than it is. */
const unprintable =
  // oxlint-disable-next-line no-control-regex -- removing them is the point
  /\u001b\[[0-9;?]*[ -/]*[@-~]|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/** Longer text is cut before it is processed. */
const readLimit = 1_000_000;

/** Text of users, models and programs as plain data: without secrets and control characters. */
export function plainText(text: string, secrets: readonly string[] = []): string {
  const lines = text.slice(0, readLimit).replace(/\r\n?|\u2028|\u2029/g, "\n");
  return redact(lines.replace(unprintable, ""), secrets).toWellFormed();
}

export const oneLine = (text: string): string => plainText(text).replace(/\s+/g, " ").trim();

/** A value whose name marks it as a secret may not look like one. */
export const plainEntry = (name: string, value: string): readonly [string, string] => [
  oneLine(name),
  isSecretName(name) ? redactedMark : oneLine(value),
];

/**
 * At most this many characters, with a visible mark at the cut. Redact first, because half a key matches no
 * pattern.
 */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  const mark = ` … [cut: ${text.length - most} more characters]`;
  if (mark.length * 2 > most) return `${text.slice(0, most - 1).toWellFormed()}…`;
  const kept = text.slice(0, most - mark.length);
  // A surrogate pair is one character, so never keep half of it.
  return `${kept.isWellFormed() ? kept : kept.slice(0, -1)}${mark}`;
}
