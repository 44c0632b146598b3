import { closest } from "../domain/closest.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import { patternProblem } from "./bounded-pattern.ts";
import { childPointer, isSchemaObject, resolveReference, type SchemaProblem } from "./schema-problem.ts";

const limits = { depth: 100, problems: 20 } as const;

type Rule = (value: Json, root: Json) => string | undefined;
type Keyword = Rule | "remark" | "schema" | "schemas" | "named schemas";

const types = ["string", "number", "integer", "boolean", "object", "array", "null"];

const isCount: Rule = (value) =>
  Number.isSafeInteger(value) && (value as number) >= 0 ? undefined : "must be a whole number from 0 on";
const isNumber: Rule = (value) => (typeof value === "number" ? undefined : "must be a number");
const isBoolean: Rule = (value) => (typeof value === "boolean" ? undefined : "must be true or false");
const isType: Rule = (value) =>
  (Array.isArray(value) && value.length > 0 ? (value as readonly Json[]) : [value]).every(
    (name) => typeof name === "string" && types.includes(name),
  )
    ? undefined
    : `must be one or several of ${types.join(", ")}`;

const keywords: Readonly<Record<string, Keyword>> = {
  type: isType,
  nullable: isBoolean,
  enum: (value) => (Array.isArray(value) && value.length > 0 ? undefined : "must be a list of values"),
  const: () => undefined,
  minimum: isNumber,
  maximum: isNumber,
  exclusiveMinimum: isNumber,
  exclusiveMaximum: isNumber,
  minLength: isCount,
  maxLength: isCount,
  minItems: isCount,
  maxItems: isCount,
  pattern: (value) => (typeof value === "string" ? patternProblem(value) : "must be a regular expression"),
  required: (value) =>
    Array.isArray(value) && value.every((name) => typeof name === "string")
      ? undefined
      : "must be a list of names",
  $ref: (value, root) =>
    typeof value === "string" && resolveReference(root, value) !== undefined
      ? undefined
      : 'must point to a definition of this schema, such as "#/$defs/name"',
  properties: "named schemas",
  $defs: "named schemas",
  definitions: "named schemas",
  items: "schema",
  additionalProperties: "schema",
  propertyNames: "schema",
  allOf: "schemas",
  anyOf: "schemas",
  oneOf: "schemas",
  $schema: "remark",
  $id: "remark",
  $comment: "remark",
  title: "remark",
  description: "remark",
  default: "remark",
  examples: "remark",
  deprecated: "remark",
  format: "remark",
};

/** What is wrong with a schema, each with its place in the schema. A keyword we do not check must not look as if we did. */
export function checkSchema(schema: Json): SchemaProblem[] {
  const problems = check(schema, schema, "", 0);
  if (problems.length === 0 && hasEndless(schema))
    problems.push({ pointer: "", message: "refers to itself without end" });
  return problems.slice(0, limits.problems);
}

function check(schema: Json, root: Json, pointer: string, depth: number): SchemaProblem[] {
  if (typeof schema === "boolean") return [];
  if (!isSchemaObject(schema)) return [{ pointer, message: "must be a schema: an object, true or false" }];
  if (depth > limits.depth) return [{ pointer, message: `is nested deeper than ${limits.depth} levels` }];
  return Object.entries(schema).flatMap(([name, value]) => {
    const place = childPointer(pointer, name);
    const keyword = Object.hasOwn(keywords, name) ? keywords[name] : undefined;
    if (keyword === undefined) return [{ pointer: place, message: unknown(name) }];
    if (keyword === "remark") return [];
    if (typeof keyword === "function") {
      const message = keyword(value, root);
      return message === undefined ? [] : [{ pointer: place, message }];
    }
    const inner = innerSchemas(keyword, value);
    if (inner === undefined) return [{ pointer: place, message: `must be ${forms[keyword]}` }];
    return inner.flatMap(([key, one]) =>
      check(one, root, key === "" ? place : childPointer(place, key), depth + 1),
    );
  });
}

const forms = {
  schema: "a schema: an object, true or false",
  schemas: "a list of schemas, not an empty one",
  "named schemas": "an object of schemas",
} as const;

function innerSchemas(keyword: keyof typeof forms, value: Json): [string, Json][] | undefined {
  if (keyword === "schema") return [["", value]];
  if (keyword === "named schemas") return isSchemaObject(value) ? Object.entries(value) : undefined;
  return Array.isArray(value) && value.length > 0
    ? (value as readonly Json[]).map((one, index) => [String(index), one])
    : undefined;
}

function unknown(name: string): string {
  const meant = closest(name, Object.keys(keywords));
  return `is not a keyword that is supported${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
}

/** Whether a schema comes back to itself while it looks at one and the same value. Every such circle has a reference. */
function hasEndless(root: Json): boolean {
  if (!isSchemaObject(root)) return false;
  const finished = new Set<JsonObject>();
  const underWay = new Set<JsonObject>();
  function isEndless(schema: Json): boolean {
    if (!isSchemaObject(schema) || finished.has(schema)) return false;
    if (underWay.has(schema)) return true;
    underWay.add(schema);
    const { $ref, allOf, anyOf, oneOf } = schema;
    const target = typeof $ref === "string" ? resolveReference(root, $ref) : undefined;
    const combined = [allOf, anyOf, oneOf].flatMap((list) => (list ?? []) as readonly Json[]);
    const found = [target ?? true, ...combined].some(isEndless);
    underWay.delete(schema);
    finished.add(schema);
    return found;
  }
  const definitions = [root["$defs"], root["definitions"]].flatMap((named) => Object.values(named ?? {}));
  return [root, ...(definitions as readonly Json[])].some(isEndless);
}
