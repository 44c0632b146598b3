import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";

/**
 * An agent's reports of its own work on its output stream, in order. The record of its run has
 * them as the member `items`.
 */
export type AgentItem =
  | { readonly kind: "prompt" | "reasoning" | "answer"; readonly text: string }
  | {
      readonly kind: "tool";
      readonly tool: string;
      readonly arguments: Json;
      readonly result: string;
      readonly failed?: true;
    };

/** Items that cannot be read are left out. Undefined: the run recorded none. */
export function agentItems({ items }: JsonObject): readonly AgentItem[] | undefined {
  return Array.isArray(items) ? (items as readonly Json[]).flatMap(readItem) : undefined;
}

function readItem(item: Json): AgentItem[] {
  if (!isJsonObject(item)) return [];
  const { kind, text, tool, arguments: args = null, result, failed } = item;
  if (kind === "prompt" || kind === "reasoning" || kind === "answer")
    return typeof text === "string" ? [{ kind, text }] : [];
  if (kind !== "tool" || typeof tool !== "string") return [];
  const done = typeof result === "string" ? result : "";
  return [{ kind, tool, arguments: args, result: done, ...(failed === true && { failed }) }];
}
