import { canonicalJson } from "../domain/canonical.ts";
import { closest } from "../domain/closest.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { matchesPattern, patternLimits } from "./bounded-pattern.ts";
import { childPointer, isSchemaObject, resolveReference, type SchemaProblem } from "./schema-problem.ts";

export { checkSchema } from "./schema-definition.ts";
export { type SchemaProblem, showProblem } from "./schema-problem.ts";

const limits = { steps: 200_000, depth: 200, problems: 20 } as const;

/**
 * Where the value does not fit the schema; empty when it does. The schema is one that `checkSchema` has nothing
 * against: what it does not know it ignores. `format` is a remark, as JSON Schema has it; use `pattern` to enforce.
 */
export function validateJson(schema: Json, value: Json): SchemaProblem[] {
  try {
    return new Validation(schema).check(schema, value, "", 0).slice(0, limits.problems);
  } catch (error) {
    if (error instanceof Unchecked) return [error.problem];
    throw error;
  }
}

/** Ends a validation that would take too long; what was not checked does not pass. */
class Unchecked extends Error {
  readonly problem: SchemaProblem;

  constructor(problem: SchemaProblem) {
    super(problem.message);
    this.problem = problem;
  }
}

class Validation {
  readonly #root: Json;
  #steps = 0;

  constructor(root: Json) {
    this.#root = root;
  }

  check(schema: Json, value: Json, pointer: string, depth: number): SchemaProblem[] {
    this.#steps += 1;
    if (this.#steps > limits.steps || depth > limits.depth)
      throw new Unchecked({ pointer, message: "is too large or too deeply nested to be checked" });
    if (schema === true) return [];
    if (!isSchemaObject(schema)) return [{ pointer, message: "is not allowed" }];
    if (value === null && schema["nullable"] === true) return [];
    const say = (message: string | undefined): SchemaProblem[] =>
      message === undefined ? [] : [{ pointer, message }];
    const own = [
      ...say(typeProblem(schema["type"], value)),
      ...say(equalityProblem(schema, value)),
      ...say(sizeProblem(schema, value)),
      ...say(typeof value === "string" ? this.#patternProblem(schema["pattern"], value, pointer) : undefined),
      ...this.#combined(schema, value, pointer, depth + 1),
    ];
    if (Array.isArray(value)) return [...own, ...this.#items(schema["items"], value, pointer, depth + 1)];
    return isJsonObject(value) ? [...own, ...this.#members(schema, value, pointer, depth + 1)] : own;
  }

  #items(schema: Json | undefined, values: readonly Json[], pointer: string, depth: number): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    if (schema === undefined) return problems;
    for (const [index, value] of values.entries()) {
      problems.push(...this.check(schema, value, `${pointer}/${index}`, depth));
      if (problems.length >= limits.problems) break;
    }
    return problems;
  }

  #members(schema: JsonObject, value: JsonObject, pointer: string, depth: number): SchemaProblem[] {
    const { properties, required, additionalProperties, propertyNames } = schema;
    const known = isJsonObject(properties) ? properties : {};
    const problems: SchemaProblem[] = [];
    for (const name of Array.isArray(required) ? (required as readonly string[]) : [])
      if (!Object.hasOwn(value, name)) problems.push({ pointer, message: `must have "${short(name)}"` });
    for (const [name, member] of Object.entries(value)) {
      const place = childPointer(pointer, name);
      if (propertyNames !== undefined) problems.push(...this.check(propertyNames, name, place, depth));
      const its = Object.hasOwn(known, name) ? known[name] : additionalProperties;
      if (its === false) problems.push({ pointer: place, message: unexpected(name, Object.keys(known)) });
      else if (its !== undefined) problems.push(...this.check(its, member, place, depth));
      if (problems.length >= limits.problems) break;
    }
    return problems;
  }

  #combined(schema: JsonObject, value: Json, pointer: string, depth: number): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    const { $ref, allOf, anyOf, oneOf } = schema;
    const each = (schemas: Json | undefined): SchemaProblem[][] | undefined =>
      Array.isArray(schemas)
        ? (schemas as readonly Json[]).map((one) => this.check(one, value, pointer, depth))
        : undefined;
    if (typeof $ref === "string") {
      const target = resolveReference(this.#root, $ref);
      problems.push(...this.check(target ?? false, value, pointer, depth));
    }
    problems.push(...(each(allOf)?.flat() ?? []));
    for (const [results, isOne] of [
      [each(anyOf), false],
      [each(oneOf), true],
    ] as const) {
      if (results === undefined) continue;
      const fitting = results.filter(({ length }) => length === 0).length;
      if (fitting === 0) problems.push(...noneFits(results, pointer));
      else if (isOne && fitting > 1)
        problems.push({
          pointer,
          message: `fits ${fitting} of the forms it may have, and must fit exactly one`,
        });
    }
    return problems;
  }

  #patternProblem(pattern: Json | undefined, text: string, pointer: string): string | undefined {
    if (typeof pattern !== "string") return undefined;
    const matches = matchesPattern(pattern, text);
    if (matches === undefined) {
      const { timeoutMs } = patternLimits;
      throw new Unchecked({ pointer, message: `cannot be matched with ${pattern} within ${timeoutMs} ms` });
    }
    return matches ? undefined : `must match ${pattern}`;
  }
}

/** Of several forms the one that is nearest tells a reader most. */
function noneFits(results: readonly SchemaProblem[][], pointer: string): SchemaProblem[] {
  const nearest = results.toSorted((a, b) => deepest(b) - deepest(a) || a.length - b.length)[0] ?? [];
  if (results.length === 1) return nearest;
  return [
    { pointer, message: `fits none of the ${results.length} forms it may have; the nearest says:` },
    ...nearest,
  ];
}

const deepest = (problems: readonly SchemaProblem[]): number =>
  Math.max(0, ...problems.map(({ pointer }) => pointer.split("/").length));

function typeProblem(type: Json | undefined, value: Json): string | undefined {
  const allowed = (Array.isArray(type) ? type : type === undefined ? [] : [type]) as readonly string[];
  if (allowed.length === 0 || allowed.some((name) => isOfType(name, value))) return undefined;
  return `must be ${allowed.map(withArticle).join(" or ")}, but is ${withArticle(typeOf(value))}`;
}

function isOfType(name: string, value: Json): boolean {
  if (name === "integer") return Number.isInteger(value);
  return name === typeOf(value);
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

const withArticle = (type: string): string =>
  type === "null" ? type : `${/^[aio]/.test(type) ? "an" : "a"} ${type}`;

function equalityProblem(schema: JsonObject, value: Json): string | undefined {
  const options = schema["enum"];
  if (Array.isArray(options) && !(options as readonly Json[]).some((option) => isEqual(option, value)))
    return `must be one of ${short((options as readonly Json[]).map((option) => JSON.stringify(option)).join(", "))}`;
  const only = schema["const"];
  return only !== undefined && !isEqual(only, value) ? `must be ${short(JSON.stringify(only))}` : undefined;
}

function isEqual(a: Json, b: Json): boolean {
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return a === b;
  try {
    return canonicalJson(a) === canonicalJson(b);
  } catch {
    return false;
  }
}

interface Bound {
  readonly keyword: string;
  readonly isBroken: (size: number, limit: number) => boolean;
  readonly says: string;
}

const bound = (keyword: string, says: string, isBroken: Bound["isBroken"]): Bound => ({
  keyword,
  says,
  isBroken,
});
const numberBounds = [
  bound("minimum", "at least", (size, limit) => size < limit),
  bound("maximum", "at most", (size, limit) => size > limit),
  bound("exclusiveMinimum", "more than", (size, limit) => size <= limit),
  bound("exclusiveMaximum", "less than", (size, limit) => size >= limit),
];
const sizeBounds = (what: string): Bound[] => [
  bound(`min${what}`, "at least", (size, limit) => size < limit),
  bound(`max${what}`, "at most", (size, limit) => size > limit),
];
const lengthBounds = sizeBounds("Length");
const itemBounds = sizeBounds("Items");

function sizeProblem(schema: JsonObject, value: Json): string | undefined {
  const broken = (bounds: readonly Bound[], size: number): string | undefined => {
    const found = bounds.find(({ keyword, isBroken }) => {
      const limit = schema[keyword];
      return typeof limit === "number" && isBroken(size, limit);
    });
    return found && `${found.says} ${JSON.stringify(schema[found.keyword])}`;
  };
  if (typeof value === "number") return text(broken(numberBounds, value), "be", `is ${value}`, "");
  if (typeof value === "string")
    return text(broken(lengthBounds, characters(value)), "have", `has ${characters(value)}`, " characters");
  if (!Array.isArray(value)) return undefined;
  return text(broken(itemBounds, value.length), "have", `has ${value.length}`, " items");
}

const text = (limit: string | undefined, verb: string, found: string, unit: string): string | undefined =>
  limit && `must ${verb} ${limit}${unit}, but ${found}`;

/** JSON Schema counts characters, not UTF-16 units. */
function characters(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

function unexpected(name: string, known: readonly string[]): string {
  const meant = closest(name, known);
  return `is not expected${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
}

const short = (text: string): string => (text.length > 300 ? `${text.slice(0, 300).toWellFormed()}…` : text);
