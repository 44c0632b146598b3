import { canonicalJson } from "../domain/canonical.ts";
import { closest } from "../domain/closest.ts";
import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import { matchPattern, patternLimits } from "./pattern.ts";
import { childPointer, resolveReference, type SchemaProblem } from "./schema-definition.ts";

export { checkSchema, type SchemaProblem, showProblem } from "./schema-definition.ts";

const limits = { steps: 200_000, depth: 200, problems: 20 } as const;

/**
 * Lists where the value does not fit the schema. Requires a schema without problems in `checkSchema`, because
 * unknown keywords are ignored here. `format` is an annotation, as in JSON Schema; use `pattern` to enforce a form.
 */
export function validateJson(schema: Json, value: Json): SchemaProblem[] {
  try {
    return new Validation(schema).check(schema, value, "", 0).slice(0, limits.problems);
  } catch (error) {
    if (error instanceof Unchecked) return [error.problem];
    throw error;
  }
}

/** Ends a validation that takes too long. An unchecked value does not pass. */
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
    this.#count(1, pointer, depth);
    if (schema === true) return [];
    if (!isJsonObject(schema)) return [{ pointer, message: "is not allowed" }];
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
    if (Array.isArray(value)) return [...own, ...this.#items(schema, value, pointer, depth + 1)];
    return isJsonObject(value) ? [...own, ...this.#members(schema, value, pointer, depth + 1)] : own;
  }

  #fits(schema: Json, value: Json, pointer: string, depth: number): boolean {
    return this.check(schema, value, pointer, depth).length === 0;
  }

  #count(steps: number, pointer: string, depth: number): void {
    this.#steps += steps;
    if (this.#steps > limits.steps || depth > limits.depth)
      throw new Unchecked({ pointer, message: "is too large or too deeply nested to be checked" });
  }

  #items(schema: JsonObject, values: readonly Json[], pointer: string, depth: number): SchemaProblem[] {
    const { prefixItems, items, uniqueItems } = schema;
    const first = (prefixItems ?? []) as readonly Json[];
    const problems: SchemaProblem[] = this.#contained(schema, values, pointer, depth);
    if (uniqueItems === true) problems.push(...this.#repeated(values, pointer, depth));
    // Without a schema for the rest, a million items cost nothing.
    for (const [index, value] of (items === undefined ? values.slice(0, first.length) : values).entries()) {
      const its = first[index] ?? items;
      if (its !== undefined) problems.push(...this.check(its, value, `${pointer}/${index}`, depth));
      if (problems.length >= limits.problems) break;
    }
    return problems;
  }

  #repeated(values: readonly Json[], pointer: string, depth: number): SchemaProblem[] {
    this.#count(values.length, pointer, depth);
    const seen = new Map<string, number>();
    for (const [index, value] of values.entries()) {
      const text = canonicalText(value);
      const earlier = text === undefined ? undefined : seen.get(text);
      if (text === undefined) throw new Unchecked({ pointer, message: "cannot be compared item by item" });
      if (earlier !== undefined)
        return [
          { pointer: `${pointer}/${index}`, message: `repeats item ${earlier}; all items must differ` },
        ];
      seen.set(text, index);
    }
    return [];
  }

  #contained(schema: JsonObject, values: readonly Json[], pointer: string, depth: number): SchemaProblem[] {
    const { contains, minContains, maxContains } = schema;
    if (contains === undefined) return [];
    const least = typeof minContains === "number" ? minContains : 1;
    const most = typeof maxContains === "number" ? maxContains : Number.POSITIVE_INFINITY;
    const found = values.filter((value, index) =>
      this.#fits(contains, value, `${pointer}/${index}`, depth),
    ).length;
    const form = short(JSON.stringify(contains));
    if (found < least)
      return [{ pointer, message: `must have at least ${least} items that fit ${form}, but has ${found}` }];
    if (found > most)
      return [{ pointer, message: `must have at most ${most} items that fit ${form}, but has ${found}` }];
    return [];
  }

  #members(schema: JsonObject, value: JsonObject, pointer: string, depth: number): SchemaProblem[] {
    const { properties, additionalProperties, propertyNames } = schema;
    const known = isJsonObject(properties) ? properties : {};
    const problems: SchemaProblem[] = requiredProblems(schema, value, pointer);
    const patterns = this.#patterns(schema, Object.keys(value), pointer);
    for (const [index, [name, member]] of Object.entries(value).entries()) {
      const place = childPointer(pointer, name);
      if (propertyNames !== undefined) problems.push(...this.check(propertyNames, name, place, depth));
      const own = Object.hasOwn(known, name) ? [known[name] as Json] : [];
      const its = [...own, ...patterns.flatMap(({ form, matches }) => (matches[index] ? [form] : []))];
      if (its.length === 0 && additionalProperties === false)
        problems.push({ pointer: place, message: unexpected(name, Object.keys(known)) });
      else if (its.length === 0 && additionalProperties !== undefined) its.push(additionalProperties);
      for (const form of its) problems.push(...this.check(form, member, place, depth));
      if (problems.length >= limits.problems) break;
    }
    return problems;
  }

  #patterns(
    { patternProperties }: JsonObject,
    names: readonly string[],
    pointer: string,
  ): readonly { readonly form: Json; readonly matches: readonly boolean[] }[] {
    if (!isJsonObject(patternProperties) || names.length === 0) return [];
    return Object.entries(patternProperties).map(([pattern, form]) => ({
      form,
      matches: this.#match(pattern, names, pointer),
    }));
  }

  #combined(schema: JsonObject, value: Json, pointer: string, depth: number): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    const { $ref, allOf, anyOf, oneOf, not } = schema;
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
    if (not !== undefined && this.#fits(not, value, pointer, depth))
      problems.push({ pointer, message: `must not fit ${short(JSON.stringify(not))}` });
    return [...problems, ...this.#conditional(schema, value, pointer, depth)];
  }

  #conditional(schema: JsonObject, value: Json, pointer: string, depth: number): SchemaProblem[] {
    const problems: SchemaProblem[] = [];
    const { if: condition, then, else: otherwise, dependentSchemas } = schema;
    if (condition !== undefined && (then !== undefined || otherwise !== undefined)) {
      const chosen = this.#fits(condition, value, pointer, depth) ? then : otherwise;
      if (chosen !== undefined) problems.push(...this.check(chosen, value, pointer, depth));
    }
    if (isJsonObject(dependentSchemas) && isJsonObject(value)) {
      for (const [name, one] of Object.entries(dependentSchemas))
        if (Object.hasOwn(value, name)) problems.push(...this.check(one, value, pointer, depth));
    }
    return problems;
  }

  #patternProblem(pattern: Json | undefined, text: string, pointer: string): string | undefined {
    if (typeof pattern !== "string") return undefined;
    return this.#match(pattern, [text], pointer)[0] === true ? undefined : `must match ${pattern}`;
  }

  #match(pattern: string, texts: readonly string[], pointer: string): readonly boolean[] {
    const matches = matchPattern(pattern, texts);
    if (matches !== undefined) return matches;
    const { timeoutMs } = patternLimits;
    throw new Unchecked({ pointer, message: `cannot be matched with ${pattern} within ${timeoutMs} ms` });
  }
}

function requiredProblems(schema: JsonObject, value: JsonObject, pointer: string): SchemaProblem[] {
  const { required, dependentRequired } = schema;
  const lacking = (names: Json | undefined): string[] =>
    ((names ?? []) as readonly string[]).filter((name) => !Object.hasOwn(value, name));
  const dependent = Object.entries(dependentRequired ?? {}).filter(([name]) => Object.hasOwn(value, name));
  return [
    ...lacking(required).map((name) => ({ pointer, message: `must have "${short(name)}"` })),
    ...dependent.flatMap(([present, names]) =>
      lacking(names as Json).map((name) => ({
        pointer,
        message: `must have "${short(name)}", because it has "${short(present)}"`,
      })),
    ),
  ];
}

/** Reports the problems of the alternative that fits best. */
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
  const text = canonicalText(a);
  return text !== undefined && text === canonicalText(b);
}

/** Undefined for a value that is nested too deeply to serialize. */
function canonicalText(value: Json): string | undefined {
  try {
    return canonicalJson(value);
  } catch {
    return undefined;
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
const memberBounds = sizeBounds("Properties");

function sizeProblem(schema: JsonObject, value: Json): string | undefined {
  const broken = (bounds: readonly Bound[], size: number): string | undefined => {
    const found = bounds.find(({ keyword, isBroken }) => {
      const limit = schema[keyword];
      return typeof limit === "number" && isBroken(size, limit);
    });
    return found && `${found.says} ${JSON.stringify(schema[found.keyword])}`;
  };
  if (typeof value === "number") {
    const { multipleOf } = schema;
    if (typeof multipleOf === "number" && !isMultiple(value, multipleOf))
      return `must be a multiple of ${multipleOf}, but is ${value}`;
    return text(broken(numberBounds, value), "be", `is ${value}`, "");
  }
  if (typeof value === "string")
    return text(broken(lengthBounds, characters(value)), "have", `has ${characters(value)}`, " characters");
  if (Array.isArray(value))
    return text(broken(itemBounds, value.length), "have", `has ${value.length}`, " items");
  if (!isJsonObject(value)) return undefined;
  const members = Object.keys(value).length;
  return text(broken(memberBounds, members), "have", `has ${members}`, " members");
}

/** Exact on decimal digits: 0.0075 is a multiple of 0.0001, although the binary remainder is not 0. */
function isMultiple(value: number, unit: number): boolean {
  const [one, other] = [decimal(value), decimal(unit)];
  const scale = Math.min(one.exponent, other.exponent);
  const scaled = ({ digits, exponent }: Decimal): bigint => digits * 10n ** BigInt(exponent - scale);
  return scaled(one) % scaled(other) === 0n;
}

interface Decimal {
  readonly digits: bigint;
  readonly exponent: number;
}

function decimal(value: number): Decimal {
  const [mantissa = "0", exponent = "0"] = value.toExponential().split("e");
  const [whole = "0", fraction = ""] = mantissa.split(".");
  return { digits: BigInt(whole + fraction), exponent: Number(exponent) - fraction.length };
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
