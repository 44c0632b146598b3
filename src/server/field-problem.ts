import type { z } from "@hono/zod-openapi";
import type { FieldProblem } from "./problem.ts";

type Issue = z.core.$ZodIssue;

const mostNameLength = 200;

/** `sent`: the value that was checked. */
export function fieldProblem(issue: Issue, sent: unknown): FieldProblem {
  const deepest = deepestOf(issue);
  const path = deepest.code === "unrecognized_keys" ? [...deepest.path, deepest.keys[0]] : deepest.path;
  const field = path.map(String).join(".").slice(0, mostNameLength);
  const isMissing = path.length > 0 && valueAt(sent, deepest.path) === undefined;
  return { field, message: `${isMissing ? "It is missing. " : ""}${requirementOf(deepest)}` };
}

/** The first problem of the closest alternative tells more than "no alternative fits". */
function deepestOf(issue: Issue, above: readonly PropertyKey[] = []): Issue {
  const path = [...above, ...issue.path];
  const inner =
    issue.code === "invalid_union"
      ? issue.errors.toSorted((a, b) => a.length - b.length)[0]?.[0]
      : issue.code === "invalid_key" || issue.code === "invalid_element"
        ? issue.issues[0]
        : undefined;
  return inner === undefined ? { ...issue, path } : deepestOf(inner, path);
}

function requirementOf(issue: Issue): string {
  switch (issue.code) {
    case "invalid_type":
      return types[issue.expected] === undefined ? otherForm : `It must be ${types[issue.expected]}.`;
    case "invalid_value":
      return `It must be ${issue.values.length === 1 ? "" : "one of "}${issue.values.map(String).join(", ")}.`;
    case "unrecognized_keys":
      return "It is not a known field.";
    case "too_small":
      return `It must ${sizeOf(issue.origin, issue.inclusive === false ? "more than" : "at least", issue.minimum)}.`;
    case "too_big":
      return `It must ${sizeOf(issue.origin, issue.inclusive === false ? "less than" : "at most", issue.maximum)}.`;
    case "invalid_format":
      return formats[issue.format] === undefined ? otherForm : `It must be ${formats[issue.format]}.`;
    case "not_multiple_of":
      return `It must be a multiple of ${issue.divisor}.`;
    case "invalid_union":
    case "invalid_key":
    case "invalid_element":
      return otherForm;
    // This server's schemas write these messages. The library's own message would say nothing.
    case "custom":
      return issue.message === "Invalid input" ? otherForm : issue.message;
  }
}

const otherForm = "It does not have an allowed form; the OpenAPI document describes the allowed ones.";

const types: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  int: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
  record: "an object",
  null: "null",
  undefined: "left out",
  never: "left out",
  nan: "a number",
  date: "a time",
};

const formats: Readonly<Record<string, string>> = {
  datetime: "a time in ISO 8601, such as 2026-11-15T02:14:07Z",
  date: "a day, such as 2026-11-15",
  url: "an address, such as https://example.org",
  email: "an email address",
};

function sizeOf(origin: string, bound: string, size: number | bigint): string {
  const several = Number(size) === 1 ? "" : "s";
  if (origin === "string") return `have ${bound} ${size} character${several}`;
  if (origin === "array" || origin === "set") return `have ${bound} ${size} item${several}`;
  return `be ${bound} ${size}`;
}

function valueAt(value: unknown, path: readonly PropertyKey[]): unknown {
  return path.reduce<unknown>(
    (found, name) =>
      typeof found === "object" && found !== null ? (found as Record<PropertyKey, unknown>)[name] : undefined,
    value,
  );
}
