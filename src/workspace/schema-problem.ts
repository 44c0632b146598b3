import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";

export interface SchemaProblem {
  /** JSON pointer to the place in the value, or in the schema; empty for all of it. */
  readonly pointer: string;
  /** What is to be said about that place: "must be a string, but is null". */
  readonly message: string;
}

export const showProblem = ({ pointer, message }: SchemaProblem): string =>
  `${pointer === "" ? "the value" : pointer} ${message}`;

export const childPointer = (pointer: string, name: string): string =>
  `${pointer}/${name.slice(0, 100).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`;

export const isSchemaObject = (schema: Json | undefined): schema is JsonObject => isJsonObject(schema);

/** Only places in the same schema: its root, or one of its definitions. */
export function resolveReference(root: Json, reference: string): Json | undefined {
  if (reference === "#") return root;
  const found = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(reference);
  if (found === null || !isSchemaObject(root)) return undefined;
  const definitions = root[found[1] ?? ""];
  const name = (found[2] ?? "").replaceAll("~1", "/").replaceAll("~0", "~");
  return isSchemaObject(definitions) && Object.hasOwn(definitions, name) ? definitions[name] : undefined;
}
