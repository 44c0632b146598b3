import { createHash } from "node:crypto";
import type { ModelRequest } from "./loopback-models.ts";

/** The persona of a request, and the position in its conversation. */
export interface Asked {
  readonly persona: string;
  readonly phase: string;
  /** The provider's name of the model. */
  readonly model: string;
  /** The attempt that began the conversation. */
  readonly attempt: number;
  /** Answers of the model that the request quotes. */
  readonly answersBefore: number;
}

const marker = /You are (\S{1,64}) in phase (\S{1,64})\./;
const attemptMarker = /This is attempt (\d{1,6})\./;

/** Reads a request of any protocol. */
export function askedBy({ body, text, path }: Pick<ModelRequest, "body" | "text" | "path">): Asked {
  const [, persona = "", phase = ""] = marker.exec(text) ?? [];
  const [, attempt = "0"] = attemptMarker.exec(text) ?? [];
  // Google names it in the path.
  const named = body["model"] ?? /\/models\/([^:/]+):/.exec(path)?.[1];
  const model = typeof named === "string" ? named : "";
  return { persona, phase, model, attempt: Number(attempt), answersBefore: countAnswers(body) };
}

/** Equal for equal requests. */
export const hashOf = ({ path, text }: Pick<ModelRequest, "path" | "text">): string =>
  createHash("sha256").update(`${path}\n${text}`).digest("hex");

/** One answer may be many items in a row, or one message with many parts. */
function countAnswers(body: Record<string, unknown>): number {
  const items = (body["messages"] ?? body["input"] ?? body["contents"] ?? []) as Record<string, unknown>[];
  return items.filter((item, index) => isAnswer(item) && !isAnswer(items[index - 1])).length;
}

function isAnswer(item: Record<string, unknown> | undefined): boolean {
  if (item === undefined) return false;
  const { role, type } = item;
  return role === "assistant" || role === "model" || type === "function_call" || type === "reasoning";
}
