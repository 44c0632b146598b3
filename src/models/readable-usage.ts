import { isJsonObject, type Json } from "../domain/json.ts";

/**
 * The package refuses an answer when a count in its usage is no number. The answer is good and paid for, so such a usage
 * is taken out: then nobody has reported one.
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
  if (!isJsonObject(body) || isReadable(body["usage"])) return text;
  return JSON.stringify({ ...body, usage: null });
}

const mayHaveUsage = (text: string): boolean => text.includes('"usage"');

function isReadable(usage: Json | undefined): boolean {
  if (usage === undefined || usage === null) return true;
  if (!isJsonObject(usage)) return false;
  return Object.entries(usage).every(([key, value]) => {
    if (value === null) return true;
    if (key.endsWith("_tokens")) return typeof value === "number";
    return !key.endsWith("_tokens_details") || (isJsonObject(value) && isReadable(value));
  });
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
