import type { ErrorJson } from "../domain/error-json.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Failure } from "../domain/failure.ts";
import { toJsonText } from "../domain/json.ts";
import { outageBody } from "../domain/recorded-steps.ts";
import type { TreeChange } from "../domain/tree.ts";

/** What a step's row will say, as text: built once, by joining, because results can be large. */
export type StepEnd =
  | { readonly kind: "nothing" }
  | { readonly kind: "result"; readonly json: string }
  | { readonly kind: "artifact"; readonly sha256: string }
  /** `failure`: as it was judged when it was fresh; what was thrown and is no error says nothing more than its text. */
  | {
      readonly kind: "error";
      readonly error: ErrorJson;
      readonly outage: boolean;
      readonly failure?: Failure;
    };

export function stepBody(end: StepEnd, changes: readonly TreeChange[]): string {
  const start = end.kind === "error" && end.outage ? outageBody : "{";
  const rest = endText(end);
  if (changes.length === 0) return `${start}${rest}}`;
  return `${start}"changes":${JSON.stringify(changes)}${rest === "" ? "" : ","}${rest}}`;
}

function endText(end: StepEnd): string {
  switch (end.kind) {
    case "nothing":
      return "";
    case "result":
      return `"result":${end.json}`;
    case "artifact":
      return `"artifact":"${end.sha256}"`;
    case "error":
      return [
        `"error":${JSON.stringify(end.error)}`,
        ...(end.failure === undefined ? [] : [`"failure":${JSON.stringify(end.failure)}`]),
      ].join(",");
  }
}

const textStart = '{"result":"';
const textEnd = '"}';

/** A result that is a text in which nothing is escaped, without parsing its row; undefined for every other row. */
export function plainResult(body: string): string | undefined {
  if (!body.startsWith(textStart) || !body.endsWith(textEnd)) return undefined;
  const text = body.slice(textStart.length, -textEnd.length);
  return text.includes('"') || text.includes("\\") ? undefined : text;
}

/** The text of a step's result; undefined for a result of undefined. */
export function resultText(result: unknown, name: string): string | undefined {
  if (result === undefined) return undefined;
  refuseCollections(result, name);
  return toJsonText(result, { what: `the result of step "${name}"` });
}

/** JSON would silently make an empty object of these. */
function refuseCollections(result: unknown, name: string): void {
  if (!(result instanceof Map || result instanceof Set)) return;
  throw new InputInvalid(
    `The result of step "${name}" is a ${result.constructor.name}, which JSON cannot hold.`,
    { advice: "Return plain data, for instance [...result]." },
  );
}
