/** The source of a setting's value. */
export type Origin =
  | { readonly kind: "default" }
  | { readonly kind: "file"; readonly file: string }
  /** The user's own configuration file. */
  | { readonly kind: "user"; readonly file: string }
  | { readonly kind: "environment"; readonly name: string }
  | { readonly kind: "code" }
  | { readonly kind: "flag"; readonly name: string };

export function describeOrigin(origin: Origin): string {
  if (origin.kind === "file") return `file ${origin.file}`;
  if (origin.kind === "user") return `user file ${origin.file}`;
  if (origin.kind === "environment" || origin.kind === "flag") return `${origin.kind} ${origin.name}`;
  return origin.kind;
}
