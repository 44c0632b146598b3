import { isJsonObject, type Json, type JsonObject } from "../domain/json.ts";
import type { ToolArguments } from "./tool-effects.ts";

export type Validation =
  | { readonly success: true; readonly value: ToolArguments }
  | { readonly success: false; readonly error: Error };

export type Validate = (value: unknown) => Validation;

type Zod = typeof import("zod").z;

const maxIssues = 5;
const maxValidators = 500;

/** Shared: a set of them takes a hundred kilobytes, and thousands of personas wait at the same time. */
const validators = new Map<string, Validate>();

/** Judges a model's arguments by the JSON Schema that it was given. */
export async function validatorOf(input: JsonObject): Promise<Validate> {
  const { z } = await import("zod");
  const key = JSON.stringify(input);
  const known = validators.get(key);
  if (known !== undefined) return known;
  const schema = compile(z, input);
  const validate: Validate = (value) => {
    const read = schema.safeParse(withoutNulls(value as Json));
    if (read.success) return { success: true, value: read.data as ToolArguments };
    return { success: false, error: new Error(issuesText(read.error.issues)) };
  };
  if (validators.size >= maxValidators) validators.clear();
  validators.set(key, validate);
  return validate;
}

function compile(z: Zod, input: JsonObject): ReturnType<Zod["fromJSONSchema"]> {
  try {
    return z.fromJSONSchema(input);
  } catch {
    // A team's schema may use words that zod does not know; the contract's own check judges the outputs anyway.
    const properties = { ...(input["properties"] as JsonObject), outputs: {} };
    return z.fromJSONSchema({ ...input, properties });
  }
}

/** Some models send null for what they leave out. The outputs are the team's own: there null may mean something. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(
    members.map(([key, member]) => [key, key === "outputs" ? member : withoutNulls(member)]),
  );
}

interface Issue {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

const issuesText = (issues: readonly Issue[]): string =>
  issues
    .slice(0, maxIssues)
    .map(({ path, message }) => `${path.map(String).join(".") || "input"}: ${message}`)
    .join("; ");
