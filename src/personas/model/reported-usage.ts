import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import type { TokenUsage } from "../../domain/usage.ts";
import type { StreamPart } from "./sdk-types.ts";
import { readUsage } from "./usage.ts";

/** About as many bytes as models put into a token of text. */
const bytesPerToken = 4;

/**
 * The usage that the provider has reported while its answer still arrives. The SDK returns usage only at the end, so
 * a broken stream has none.
 */
export class ReportedUsage {
  #counts: JsonObject = {};
  /** Anthropic reports the input at the beginning, and the output when the answer is whole. */
  #isBeginning = false;
  #bytes = 0;
  #hasThoughts = false;

  add(part: StreamPart): void {
    if (part.type === "raw") this.#read(part.rawValue as Json);
    if (part.type === "reasoning-start") this.#hasThoughts = true;
    if (part.type === "text-delta" || part.type === "tool-input-delta")
      this.#bytes += Buffer.byteLength(part.delta);
  }

  /** Undefined when nothing was reported, or when thoughts were generated that no report counts. */
  read(leastInput: number): TokenUsage | undefined {
    const counts = this.#counts;
    const first = (...keys: readonly string[]): number | undefined =>
      keys.map((key) => numberAt(counts, key)).find((count) => count !== undefined);
    const sum = (...keys: readonly string[]): number =>
      keys.reduce((all, key) => all + (numberAt(counts, key) ?? 0), 0);
    const input = first("input_tokens", "prompt_tokens", "promptTokenCount");
    if (input === undefined || (this.#isBeginning && this.#hasThoughts)) return undefined;
    const cacheParts = ["cache_read_input_tokens", "cache_creation_input_tokens"];
    const reasoning = first(
      "output_tokens_details.reasoning_tokens",
      "completion_tokens_details.reasoning_tokens",
      "thoughtsTokenCount",
    );
    const output = sum("output_tokens", "completion_tokens", "candidatesTokenCount", "thoughtsTokenCount");
    const usage = {
      inputTokens: {
        total: input + sum(...cacheParts),
        noCache: undefined,
        cacheRead: first(
          "cache_read_input_tokens",
          "prompt_tokens_details.cached_tokens",
          "input_tokens_details.cached_tokens",
          "cachedContentTokenCount",
        ),
        cacheWrite: first("cache_creation_input_tokens"),
      },
      outputTokens: {
        total: this.#isBeginning ? Math.max(output, Math.ceil(this.#bytes / bytesPerToken)) : output,
        text: undefined,
        reasoning,
      },
    };
    const content = this.#bytes === 0 ? [] : [{ type: "text" as const, text: "begun" }];
    return readUsage({ content, usage }, leastInput) ?? undefined;
  }

  #read(event: Json): void {
    if (!isJsonObject(event)) return;
    const usage = usageIn(event);
    if (usage === undefined) return;
    this.#isBeginning = event["type"] === "message_start";
    const told = Object.entries(usage).filter(([, value]) => value !== null);
    this.#counts = { ...this.#counts, ...Object.fromEntries(told) };
  }
}

/** Where the protocols have it: in the event, or in the answer that the event is about. */
function usageIn(event: JsonObject): JsonObject | undefined {
  const { message, response, x_groq: groq } = event;
  for (const holder of [event, message, response, groq]) {
    const usage = isJsonObject(holder) ? (holder["usage"] ?? holder["usageMetadata"]) : undefined;
    if (isJsonObject(usage)) return usage;
  }
  return undefined;
}

/** "output_tokens_details.reasoning_tokens" */
function numberAt(counts: JsonObject, path: string): number | undefined {
  const value = path
    .split(".")
    .reduce<Json | undefined>((found, key) => (isJsonObject(found) ? found[key] : undefined), counts);
  return typeof value === "number" ? value : undefined;
}
