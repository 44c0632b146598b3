import { sha256 } from "../domain/canonical.ts";
import { isJsonObject, type Json } from "../domain/json-value.ts";
import { type Tree, withChanges } from "../domain/tree.ts";
import { type BlobStore, BlobsBeside } from "./blobs.ts";

/** Files with secrets, for a temporary copy: never in a kept tree or in a store. */
export type ExtraFiles = ReadonlyMap<string, Buffer>;

/** The tree with these files on top. They replace existing files, which a persona may have written. */
export function withExtraFiles(
  tree: Tree,
  blobs: BlobStore,
  files: ExtraFiles,
): { readonly tree: Tree; readonly blobs: BlobStore } {
  const beside = new BlobsBeside(blobs);
  const changes = [...files].map(([path, content]) => {
    void beside.put(content);
    return { path, after: { sha256: sha256(content), bytes: content.length, mode: "file" as const } };
  });
  return { tree: withChanges(tree, changes), blobs: beside };
}

/** Every value in these files that must not be shown. */
export const secretsOf = (files: ExtraFiles | undefined): readonly string[] =>
  [...(files?.values() ?? [])].flatMap(secretsIn);

/** A shorter line is likely an ordinary word of the output. */
const leastLine = 8;
const assignment = /^\s*(?:export\s+)?["']?[\w.-]+["']?\s*[:=]\s*(.*?)[\s,;]*$/;

/** The values of settings, every longer line, and the texts of JSON. */
export function secretsIn(content: Buffer): readonly string[] {
  const text = content.toString();
  const lines = text.split(/\r?\n/).map((line) => line.trim());
  const values = lines.flatMap((line) => {
    const [, value = ""] = assignment.exec(line) ?? [];
    return [value, value.replace(/^(["'`])(.*)\1$/, "$2")];
  });
  return [
    ...new Set([...values, ...lines.filter((line) => line.length >= leastLine), ...textsIn(text)]),
  ].filter((secret) => secret !== "");
}

function textsIn(text: string): readonly string[] {
  try {
    return collect(JSON.parse(text) as Json);
  } catch {
    return [];
  }
}

function collect(value: Json): readonly string[] {
  if (typeof value === "string") return [value];
  if (typeof value === "number") return [String(value)];
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(collect);
  return isJsonObject(value) ? Object.values(value).flatMap(collect) : [];
}
