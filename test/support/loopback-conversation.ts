import { createHash } from "node:crypto";
import type { ModelRequest } from "./loopback-models.ts";

/** Who asks, and how far the conversation has come. */
export interface Asked {
  readonly persona: string;
  readonly phase: string;
  /** As its provider calls it. */
  readonly model: string;
  /** The attempt that began the conversation. */
  readonly attempt: number;
  /** Answers of the model that the request quotes. */
  readonly answersBefore: number;
}

const marker = /You are (\S{1,64}) in phase (\S{1,64}), attempt (\d{1,6})\./;

/** Reads a request of any protocol: everything a stateless model knows of its conversation. */
export function askedBy({ body, text, path }: Pick<ModelRequest, "body" | "text" | "path">): Asked {
  const [, persona = "", phase = "", attempt = "0"] = marker.exec(text) ?? [];
  // Google names it in the path.
  const named = body["model"] ?? /\/models\/([^:/]+):/.exec(path)?.[1];
  const model = typeof named === "string" ? named : "";
  return { persona, phase, model, attempt: Number(attempt), answersBefore: countAnswers(body) };
}

/** The same for the same question. */
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
