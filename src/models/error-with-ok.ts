import { isJsonObject, type Json } from "../domain/json.ts";
import { reportedStatus } from "./reported-status.ts";

/** What a gateway does not say in a status of its own is a gateway's error. */
const unsaidStatus = 502;
const answerKeys = ["choices", "output", "content", "candidates"];

/**
 * Some gateways report an error as JSON with status 200. Whoever waits for a stream finds nothing in it, so it gets the
 * status that it should have had.
 */
export async function withItsStatus(response: Response): Promise<Response> {
  const { headers } = response;
  if (!response.ok || !/^application\/json\b/i.test(headers.get("content-type") ?? "")) return response;
  const text = await response.text();
  const status = statusOf(text) ?? response.status;
  return new Response(text, { status, headers });
}

function statusOf(text: string): number | undefined {
  // Parsed only when there may be an error: an answer is long, and is parsed again by the package.
  if (!text.includes('"error"')) return undefined;
  const body = parse(text);
  if (!isJsonObject(body) || answerKeys.some((key) => key in body)) return undefined;
  const error = body["error"];
  return isJsonObject(error) ? (reportedStatus(error) ?? unsaidStatus) : undefined;
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}
