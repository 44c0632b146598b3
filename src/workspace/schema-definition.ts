import { closest } from "../domain/closest.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { patternProblem } from "./pattern.ts";

export interface SchemaProblem {
  /** JSON pointer to the place in the value or in the schema; empty for the whole. */
  readonly pointer: string;
  /** "must be a string, but is null". */
  readonly message: string;
}

export const showProblem = ({ pointer, message }: SchemaProblem): string =>
  `${pointer === "" ? "the value" : pointer} ${message}`;

export const childPointer = (pointer: string, name: string): string =>
  `${pointer}/${name.slice(0, 100).toWellFormed().replaceAll("~", "~0").replaceAll("/", "~1")}`;

const limits = { depth: 100, problems: 20 } as const;

type Rule = (value: Json, schema: JsonObject, root: Json) => string | undefined;
type Applicator = "schema" | "schemas" | "named schemas";
type Keyword = Rule | Applicator | "remark";

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

const isCount: Rule = (value) =>
  Number.isInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0 on";
const isNumber: Rule = (value) => (typeof value === "number" ? undefined : "must be a number");
const isBoolean: Rule = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const isType: Rule = (value) =>
  (Array.isArray(value) && value.length > 0 ? (value as readonly Json[]) : [value]).every(
    (name) => typeof name === "string" && types.includes(name),
  )
    ? undefined
    : `must be one or several of ${types.join(", ")}`;
const isNameList = (value: Json | undefined): boolean =>
  Array.isArray(value) && value.every((name) => typeof name === "string");

const keywords: Readonly<Record<string, Keyword>> = {
  type: isType,
  nullable: isBoolean,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? undefined : "must be a list of values"),
  const: () => undefined,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  multipleOf: (value) =>
    typeof value === "number" && value > 0 ? undefined : "must be a number greater than 0",
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  uniqueItems: isBoolean,
  minContains: isCount,
  maxContains: isCount,
  minProperties: isCount,
  maxProperties: isCount,
  pattern: (value) => (typeof value === "string" ? patternProblem(value) : "must be a regular expression"),
  required: (value) => (isNameList(value) ? undefined : "must be a list of names"),
  dependentRequired: (value) =>
    isJsonObject(value) && Object.values(value).every(isNameList)
      ? undefined
      : "must be an object of lists of names",
  $ref: (value, _schema, root) =>
    typeof value === "string" && resolveReference(root, value) !== undefined
      ? undefined
      : 'must point to a schema within this one, such as "#/$defs/name"',
  // A schema with its own address changes the meaning of its references.
  $id: (_value, schema, root) => (schema === root ? undefined : "is supported at the top only"),
  properties: "named schemas",
  patternProperties: "named schemas",
  dependentSchemas: "named schemas",
  $defs: "named schemas",
  definitions: "named schemas",
  items: "schema",
  contains: "schema",
  additionalProperties: "schema",
  propertyNames: "schema",
  not: "schema",
  if: "schema",
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: "schema",
  else: "schema",
  prefixItems: "schemas",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  $schema: (value) =>
    typeof value === "string" && /^https?:\/\/json-schema\.org\/draft[/-]/.test(value)
      ? undefined
      : "must name a draft of JSON Schema, such as https://json-schema.org/draft/2020-12/schema",
  $comment: "remark",
  title: "remark",
  description: "remark",
  default: "remark",
  examples: "remark",
  deprecated: "remark",
  readOnly: "remark",
  writeOnly: "remark",
  format: "remark",
  contentEncoding: "remark",
  contentMediaType: "remark",
  contentSchema: "remark",
};

const keywordOf = (name: string): Keyword | undefined =>
  Object.hasOwn(keywords, name) ? keywords[name] : undefined;

/**
 * The problems of a schema, each with its place. A keyword that `validateJson` does not check is a problem, so that
 * a schema never seems checked when it is not.
 */
export function checkSchema(schema: Json): SchemaProblem[] {
  const problems = check(schema, schema, "", 0);
  if (problems.length === 0 && hasEndless(schema))
    problems.push({ pointer: "", message: "refers to itself without end" });
  return problems.slice(0, limits.problems);
}

function check(schema: Json, root: Json, pointer: string, depth: number): SchemaProblem[] {
  if (typeof schema === "boolean") return [];
  if (!isJsonObject(schema)) return [{ pointer, message: "must be a schema: an object, true or false" }];
  if (depth > limits.depth) return [{ pointer, message: `is nested deeper than ${limits.depth} levels` }];
  return Object.entries(schema).flatMap(([name, value]) => {
    const place = childPointer(pointer, name);
    const keyword = keywordOf(name);
    if (keyword === undefined) return [{ pointer: place, message: unknown(name) }];
    if (keyword === "remark") return [];
    if (typeof keyword === "function") {
      const message = keyword(value, schema, root);
      return message === undefined ? [] : [{ pointer: place, message }];
    }
    const inner = innerSchemas(keyword, value);
    if (inner === undefined) return [{ pointer: place, message: `must be ${forms[keyword]}` }];
    return inner.flatMap(([key, one]) => [
      ...nameProblems(name, key, childPointer(place, key)),
      ...check(one, root, key === "" ? place : childPointer(place, key), depth + 1),
    ]);
  });
}

const forms = {
  schema: "a schema: an object, true or false",
  schemas: "a list of schemas, not an empty one",
  "named schemas": "an object of schemas",
} as const;

function innerSchemas(keyword: Applicator, value: Json): [string, Json][] | undefined {
  if (keyword === "schema") return [["", value]];
  if (keyword === "named schemas") return isJsonObject(value) ? Object.entries(value) : undefined;
  return Array.isArray(value) && value.length > 0
    ? (value as readonly Json[]).map((one, index) => [String(index), one])
    : undefined;
}

function nameProblems(keyword: string, name: string, pointer: string): SchemaProblem[] {
  const message = keyword === "patternProperties" ? patternProblem(name) : undefined;
  return message === undefined ? [] : [{ pointer, message }];
}

function unknown(name: string): string {
  const meant = closest(name, Object.keys(keywords));
  return `is not a keyword that is supported${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
}

/** Resolves a JSON pointer to a schema within the same document; addresses and anchors are not supported. */
export function resolveReference(root: Json, reference: string): Json | undefined {
  if (reference === "#") return root;
  if (!reference.startsWith("#/")) return undefined;
  const steps = reference.slice(2).split("/").map(unescape);
  let schema: Json | undefined = root;
  while (steps.length > 0) {
    const [name, key] = steps as [string | undefined, string | undefined];
    const keyword = name === undefined ? undefined : keywordOf(name);
    if (name === undefined || !isJsonObject(schema) || !Object.hasOwn(schema, name)) return undefined;
    const inner: Json | undefined = schema[name];
    steps.splice(0, keyword === "schema" ? 1 : 2);
    if (keyword === "schema") schema = inner;
    else if (keyword === "named schemas" || keyword === "schemas") schema = memberOf(inner, key);
    else return undefined;
  }
  return schema;
}

function memberOf(value: Json | undefined, key: string | undefined): Json | undefined {
  if (key === undefined) return undefined;
  if (Array.isArray(value)) return /^\d+$/.test(key) ? (value as readonly Json[])[Number(key)] : undefined;
  return isJsonObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
}

function unescape(step: string): string | undefined {
  try {
    return decodeURIComponent(step).replaceAll("~1", "/").replaceAll("~0", "~");
  } catch {
    return undefined;
  }
}

/** Whether a schema returns to itself without descending into the value. Every such cycle contains a reference. */
function hasEndless(root: Json): boolean {
  const finished = new Set<JsonObject>();
  const entered = new Set<JsonObject>();
  function isEndless(schema: Json): boolean {
    if (!isJsonObject(schema) || finished.has(schema)) return false;
    if (entered.has(schema)) return true;
    entered.add(schema);
    const { $ref, allOf, anyOf, oneOf, not, if: condition, then, else: otherwise, dependentSchemas } = schema;
    const target = typeof $ref === "string" ? resolveReference(root, $ref) : undefined;
    const lists = [allOf, anyOf, oneOf].flatMap((list) => (list ?? []) as readonly Json[]);
    const single = [target, not, condition, then, otherwise].filter((one) => one !== undefined);
    const found = [...single, ...lists, ...Object.values(dependentSchemas ?? {})].some(isEndless);
    entered.delete(schema);
    finished.add(schema);
    return found;
  }
  return schemasIn(root).some(isEndless);
}

/** The schema and every schema inside it. */
function schemasIn(schema: Json): readonly Json[] {
  if (!isJsonObject(schema)) return [];
  const inner = Object.entries(schema).flatMap(([name, value]) => {
    const keyword = keywordOf(name);
    if (keyword === undefined || keyword === "remark" || typeof keyword === "function") return [];
    return innerSchemas(keyword, value) ?? [];
  });
  return [schema, ...inner.flatMap(([, one]) => schemasIn(one))];
}
