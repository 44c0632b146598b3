import { type ModelPrice, spentOn, worstCase } from "../../cost/model-price.ts";
import { readProperty } from "../../domain/bounded-json.ts";
import type { Amount } from "../../domain/budget.ts";
import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";
import { normalizeUsage, noUsage, type Spend, type Spent, type TokenUsage } from "../../domain/usage.ts";
import type { Answer } from "./answer.ts";
import type { InputCount } from "./count-input.ts";
import type { Pricing } from "./ports.ts";

/**
 * `null` when the provider did not report it, or reported nonsense. So is an input of less than the call can have, and an
 * output of 0 for an answer that says something: packages put zeros where a server left a count out, and they would pass
 * every budget.
 */
export function readUsage(
  { content, usage }: Pick<Answer, "content" | "usage">,
  leastInput: number,
): TokenUsage | null {
  const { inputTokens, outputTokens, raw } = usage;
  const counts = {
    inputTokens: inputTokens?.total,
    cachedInputTokens: inputTokens?.cacheRead ?? 0,
    cacheWriteTokens: inputTokens?.cacheWrite ?? 0,
    outputTokens: outputTokens?.total,
    reasoningTokens: outputTokens?.reasoning ?? 0,
  };
  const sum = raw?.["total_tokens"] ?? raw?.["totalTokenCount"];
  const known = normalizeUsage(counts as TokenUsage, typeof sum === "number" ? sum : undefined);
  if (known === null || known.inputTokens < leastInput) return null;
  return known.outputTokens === 0 && content.some(saysSomething) ? null : known;
}

const saysSomething = (part: Answer["content"][number]): boolean =>
  (part.type !== "text" && part.type !== "reasoning") || part.text !== "";

interface AskedSpend {
  readonly model: string;
  readonly input: InputCount;
  readonly maxOutputTokens: number;
  /** Of `maxOutputTokens`, what must stay when the output shrinks. */
  readonly leastOutputTokens: number;
  readonly pricing: Pricing | undefined;
  /** The billed usage of a failed call. */
  readonly usageOfFailure: (error: unknown) => TokenUsage | null;
}

export async function spendOf(asked: AskedSpend): Promise<Spend<Answer>> {
  const { model, input, maxOutputTokens: most, leastOutputTokens: least, pricing } = asked;
  const priced = (usage: TokenUsage | null): Spent => {
    if (usage === noUsage) return { usage, costMicroUsd: 0 };
    return pricing?.spent(model, usage) ?? { usage, costMicroUsd: null };
  };
  const worstCase = async (inputTokens: number, outputTokens = most): Promise<Amount> =>
    (await pricing?.worstCase(model, inputTokens, outputTokens)) ?? {
      tokens: inputTokens + outputTokens,
      microUsd: null,
    };
  const amounts = {
    asked: await worstCase(input.typical),
    atMost: await worstCase(input.most),
    output: { most, least, atLeast: await worstCase(input.most, least) },
  };
  const prices = pricing?.tableOf?.(model);
  return {
    model,
    ...amounts,
    ...(prices !== undefined && { prices }),
    spent: (outcome) =>
      priced(
        "result" in outcome ? readUsage(outcome.result, input.least) : asked.usageOfFailure(outcome.error),
      ),
  };
}

/** Errors before anything was sent. */
const neverSent: ReadonlySet<unknown> = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"]);

/** A server, or a gateway before it, that fails in the middle may have generated; one that is too busy has not begun. */
const isRefusal = (status: number): boolean => status < 500 || status === 503 || status === 529;

/**
 * Nothing is billed for a request that was refused or never arrived. Where the answer broke off, or a gateway
 * gave up, no usage is reported: it is unknown, not zero.
 */
export function usageOfFailure(error: unknown, outputSeen: boolean): TokenUsage | null {
  if (outputSeen) return null;
  for (
    let link = error, depth = 0;
    isObject(link) && depth < 8;
    link = readProperty(link, "cause"), depth += 1
  ) {
    const status = readProperty(link, "statusCode");
    if (typeof status === "number" && status >= 400) return isRefusal(status) ? noUsage : null;
    if (neverSent.has(readProperty(link, "code"))) return noUsage;
  }
  return null;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

/**
 * The packages refuse an answer when a count in its usage is no number. The answer is good and paid for, so a count that is
 * written as text becomes one. Anything else becomes 0, which is never taken for a report.
 */
export function withReadableUsage(ask: typeof fetch): typeof fetch {
  return async (input, init) => {
    const response = await ask(input, init);
    const { body, status, headers } = response;
    const type = headers.get("content-type") ?? "";
    if (!response.ok || body === null) return response;
    if (/^application\/json\b/i.test(type))
      return new Response(readable(await response.text()), { status, headers });
    if (!/^text\/event-stream\b/i.test(type)) return response;
    return new Response(byLine(body, readableLine), { status, headers });
  };
}

const dataLine = /^(data:\s*)(\{.*\})(\s*)$/s;

function readableLine(line: string): string {
  const [, before = "", json = "", after = ""] = (mayHaveUsage(line) && dataLine.exec(line)) || [];
  return json === "" ? line : `${before}${readable(json)}${after}`;
}

/** As it is, unless there is a usage that cannot be read. */
function readable(text: string): string {
  const body = mayHaveUsage(text) ? parse(text) : undefined;
  if (!isJsonObject(body)) return text;
  const mended = withUsage(body);
  return mended === body ? text : JSON.stringify(mended);
}

const mayHaveUsage = (text: string): boolean => text.includes('"usage');

/** Keys of an event that hold the answer so far, or, with Groq, the usage of a stream. */
const holders: ReadonlySet<string> = new Set(["response", "message", "x_groq"]);

/** Where the protocols have it: in the answer itself, or in one of the holders. */
function withUsage(body: JsonObject, isOuter = true): JsonObject {
  return replaced(body, (key, value) => {
    if (key === "usage" || key === "usageMetadata") return readableUsage(value);
    return isOuter && holders.has(key) && isJsonObject(value) ? withUsage(value, false) : value;
  });
}

function readableUsage(usage: Json): Json {
  if (usage === null) return usage;
  return isJsonObject(usage) ? readableCounts(usage) : nothingReported;
}

/** Some packages require both. An input of 0 is never taken for a report. */
const nothingReported: JsonObject = { input_tokens: 0, output_tokens: 0 };

/** Not "tokens" itself, which is a group of counts with Cohere. */
const isCount = /.(?:tokens|tokenCount)$/i;

function readableCounts(counts: JsonObject): JsonObject {
  return replaced(counts, (key, value) => {
    if (value === null || typeof value === "number") return value;
    if (isCount.test(key)) return typeof value === "string" && /^\d{1,15}$/.test(value) ? Number(value) : 0;
    if (isJsonObject(value)) return readableCounts(value);
    return key.endsWith("_details") ? null : value;
  });
}

/** The object itself, where nothing has to be replaced. */
function replaced(object: JsonObject, change: (key: string, value: Json) => Json): JsonObject {
  const changed = Object.entries(object).flatMap(([key, value]) => {
    const now = change(key, value);
    return now === value ? [] : [[key, now] as const];
  });
  return changed.length === 0 ? object : { ...object, ...Object.fromEntries(changed) };
}

function parse(text: string): Json | undefined {
  try {
    return JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
}

/** Each line as soon as it is whole. Read by hand, as in bounded-fetch.ts, which also bounds how long a line can be. */
function byLine(
  body: ReadableStream<Uint8Array>,
  change: (line: string) => string,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  const decoder = new TextDecoder();
  let rest: string[] = [];
  return new ReadableStream<Uint8Array>(
    {
      pull: async (controller) => {
        for (;;) {
          const { done, value } = await reader.read();
          const text = done ? decoder.decode() : decoder.decode(value, { stream: true });
          const end = done ? text.length : text.lastIndexOf("\n") + 1;
          rest.push(text.slice(0, end));
          const lines = done || end > 0 ? rest.join("") : "";
          if (lines !== "") rest = [];
          rest.push(text.slice(end));
          if (lines !== "") controller.enqueue(Buffer.from(lines.replace(/[^\n]+/g, change)));
          if (done) return controller.close();
          if (lines !== "") return;
        }
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
}

/** Reserves and settles a call at the same price. */
export function pricingOf(priceOf: (model: string) => Promise<ModelPrice | null>): Pricing {
  const known = new Map<string, ModelPrice | null>();
  return {
    worstCase: async (model, inputTokens, maxOutputTokens) => {
      const price = await priceOf(model);
      known.set(model, price);
      return worstCase(price, inputTokens, maxOutputTokens);
    },
    spent: (model, usage) => spentOn(known.get(model) ?? null, usage),
    tableOf: (model) => known.get(model)?.table,
  };
}
