import { isJsonObject, type Json } from "../../domain/json.ts";
import { reportedStatus } from "./reported-status.ts";

/** The status of an error that names none. */
const unsaidStatus = 502;
const answerKeys = ["choices", "output", "content", "candidates"];
/** Of events that carry parts of an answer. */
const partKeys = ["message", "response", "delta", "usage", "usageMetadata"];

/** Members of an answer: a body with one of them is no error. */
export const holdsAnswer = (body: unknown): boolean =>
  typeof body === "object" && body !== null && [...answerKeys, ...partKeys].some((key) => key in body);

/**
 * Some gateways report an error as JSON with status 200. Whoever waits for a stream finds nothing in it, so it gets the
 * status that it should have had.
 */
export async function withStatusOfError(response: Response): Promise<Response> {
  const { headers } = response;
  if (!response.ok || !/^application\/json\b/i.test(headers.get("content-type") ?? "")) return response;
  const text = await response.text();
  const error = errorIn(text);
  const status = error === undefined ? response.status : (reportedStatus(error) ?? unsaidStatus);
  return new Response(text, { status, headers });
}

/** The error in a body that has nothing else. */
export function errorIn(text: string): object | undefined {
  // Parsed only when there may be an error: an answer is long, and is parsed again by the package.
  if (!text.includes('"error"')) return undefined;
  const body = parse(text);
  if (!isJsonObject(body) || answerKeys.some((key) => key in body)) return undefined;
  const { error } = body;
  if (typeof error === "string") return { message: error };
  if (isJsonObject(error)) return error;
  return body["object"] === "error" ? body : undefined;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
