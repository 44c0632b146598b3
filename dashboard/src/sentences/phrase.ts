/** A sentence in parts, so that names can have another weight or typeface. Tests and announcements use `plain`. */
export type Part =
  | string
  | { readonly strong: string }
  | { readonly code: string }
  | { readonly held: string };
export type Phrase = readonly Part[];

export const strong = (text: string): Part => ({ strong: text });
export const code = (text: string): Part => ({ code: text });
/** Shown in the color of waiting. */
export const held = (text: string): Part => ({ held: text });

export function plain(phrase: Phrase): string {
  return phrase.map(textOf).join("");
}

export function textOf(part: Part): string {
  if (typeof part === "string") return part;
  if ("strong" in part) return part.strong;
  return "code" in part ? part.code : part.held;
}
