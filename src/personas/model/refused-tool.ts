import { readProperty } from "../../domain/bounded-json.ts";
import { HelpNeeded } from "../../domain/errors.ts";
import { redact } from "../../domain/redact.ts";

const maxWords = 8000;
const maxReason = 500;

/** How providers name the tool that they refuse: by its place in the request, */
const places = [/function_?declarations\[(\d{1,4})\]/i, /\btools\[(\d{1,4})\]/, /\btools\.(\d{1,4})\./];
/** or by its name, in a sentence about its schema. */
const aboutSchema =
  /invalid[^.]{0,60}(?:schema|function|parameters)|(?:schema|parameters)[^.]{0,120}(?:invalid|not (?:supported|valid|permitted))/i;

/**
 * The error itself, or that the provider refuses one of the tools: the same request is refused each time, so a person
 * must change the tool or leave it out.
 */
export function recognizeRefusedTool(
  error: unknown,
  model: string,
  tools: readonly { readonly name: string }[] | undefined,
): unknown {
  if (tools === undefined || typeof error !== "object" || error === null) return error;
  const status = readProperty(error, "statusCode");
  if (status !== 400 && status !== 422) return error;
  const message = readProperty(error, "message");
  const words = [message, readProperty(error, "responseBody")]
    .filter((text) => typeof text === "string")
    .join("\n")
    .slice(0, maxWords);
  const tool = toolIn(
    words,
    tools.map(({ name }) => name),
  );
  if (tool === undefined) return error;
  const reason = redact(String(message)).slice(0, maxReason);
  return new HelpNeeded(`${model} refuses the tool ${tool}: ${reason}`, {
    details: { model, tool },
    advice: `Correct the name or the inputSchema of ${tool}, or leave it out of the persona's tools. Then resume.`,
    cause: error,
  });
}

function toolIn(words: string, names: readonly string[]): string | undefined {
  for (const place of places) {
    const index = place.exec(words)?.[1];
    if (index !== undefined) return names[Number(index)];
  }
  if (!aboutSchema.test(words)) return undefined;
  return names.find((name) => [`'${name}'`, `"${name}"`, `\`${name}\``].some((text) => words.includes(text)));
}
