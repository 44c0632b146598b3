import type { ErrorJson } from "../domain/error-json.ts";
import type { Failure } from "../domain/failure.ts";
import { toJsonText } from "../domain/json.ts";
import { outageBody } from "../domain/recorded-steps.ts";
import type { TreeChange } from "../domain/tree.ts";

const resultStart = '{"result":';

/** What the row of a step says that gave this: its result, or nothing for a result of undefined. */
export function resultBody(result: unknown, name: string): string {
  return toJsonText(result, { what: `the result of step "${name}"`, member: "result" });
}

/** The result in what `resultBody` wrote. */
export const resultIn = (body: string): string => body.slice(resultStart.length, -1);

export const artifactBody = (sha256: string): string => `{"artifact":"${sha256}"}`;

/** `failure`: as it was judged when it was fresh; what was thrown and is no error says nothing more than its text. */
export function errorBody(
  error: ErrorJson,
  { outage, failure }: { readonly outage: boolean; readonly failure: Failure | undefined },
): string {
  const body = JSON.stringify({ error, failure });
  return outage ? outageBody + body.slice(1) : body;
}

/** The same with the files that the step changed; they come first. */
export function withChanges(body: string, changes: readonly TreeChange[]): string {
  if (changes.length === 0) return body;
  return `{"changes":${JSON.stringify(changes)}${body === "{}" ? "" : ","}${body.slice(1)}`;
}

const textStart = `${resultStart}"`;
const textEnd = '"}';

/** A result that is a text in which nothing is escaped, without parsing its row; undefined for every other row. */
export function plainResult(body: string): string | undefined {
  if (!body.startsWith(textStart) || !body.endsWith(textEnd)) return undefined;
  const text = body.slice(textStart.length, -textEnd.length);
  return text.includes('"') || text.includes("\\") ? undefined : text;
}
