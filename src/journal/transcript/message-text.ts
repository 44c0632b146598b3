import { isJsonObject, type Json } from "../../domain/json.ts";

/**
 * The text of messages that the items before a prompt do not show: instructions and what people and Maestro wrote.
 * Answers and the results of tools are items of their own.
 */
export function writtenText(messages: readonly Json[]): string {
  return messages
    .flatMap((message) => {
      if (!isJsonObject(message)) return [];
      const { role, content } = message;
      return role === "system" || role === "user" ? [contentText(content)] : [];
    })
    .join("\n\n");
}

function contentText(content: Json | undefined): string {
  if (typeof content === "string") return content;
  if (!Array.isArray(content)) return "";
  return (content as readonly Json[]).map(partText).join("\n\n");
}

function partText(part: Json): string {
  if (!isJsonObject(part)) return "";
  if (typeof part["text"] === "string") return part["text"];
  const { filename, mediaType } = part;
  return `[${typeof filename === "string" ? filename : "file"}, ${typeof mediaType === "string" ? mediaType : "no type"}]`;
}

/** A value as people read it: a text as it is. */
export const valueText = (value: Json | undefined): string =>
  value === undefined ? "" : typeof value === "string" ? value : JSON.stringify(value, null, 2);
