import { isJsonObject, type Json, type JsonObject } from "../../domain/json.ts";

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

/** Where the protocols have it: in the answer itself, or in an event that carries the answer so far. */
function withUsage(body: JsonObject, isOuter = true): JsonObject {
  return replaced(body, (key, value) => {
    if (key === "usage" || key === "usageMetadata") return readableUsage(value);
    const holdsAnswer = isOuter && (key === "response" || key === "message") && isJsonObject(value);
    return holdsAnswer ? withUsage(value, false) : value;
  });
}

function readableUsage(usage: Json): Json {
  if (usage === null) return usage;
  return isJsonObject(usage) ? readableCounts(usage) : nothingReported;
}

/** Some packages require both. An input of 0 is never taken for a report. */
const nothingReported: JsonObject = { input_tokens: 0, output_tokens: 0 };

const isCount = /(?:tokens|tokenCount)$/i;

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
