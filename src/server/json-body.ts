import { InputInvalid } from "../domain/errors.ts";
import { parseJson } from "../domain/json.ts";
import { HttpProblem } from "./problem.ts";

export const bodyLimits = { maxBytes: 8 * 1024 * 1024, maxDepth: 64 } as const;
/** Time limit for the arrival of the whole body. */
const arrivalMs = 60_000;

/** Undefined if there is no body, or an empty one. Clients send a type even with an empty body, like `curl -d ''`. */
export async function readJsonBody(request: Request): Promise<string | undefined> {
  const type = request.headers.get("content-type");
  const isJson = type !== null && /^application\/json\s*(?:;\s*charset="?utf-8"?\s*)?$/i.test(type.trim());
  const declared = Number(request.headers.get("content-length") ?? 0);
  if (declared > 0 && type !== null && !isJson) throw unsupported(type);
  if (declared > bodyLimits.maxBytes) throw tooLarge();
  const bytes = await readBytes(request.body);
  if (bytes.byteLength === 0) return undefined;
  if (!isJson) throw unsupported(type);
  checkJson(bytes);
  return new TextDecoder().decode(bytes);
}

async function readBytes(body: ReadableStream<Uint8Array> | null): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(tooSlow()), arrivalMs).unref();
  try {
    // Leaving the loop cancels the stream, so that an endless body is not read.
    for await (const chunk of until(late.signal, body ?? ReadableStream.from<Uint8Array>([]))) {
      length += chunk.byteLength;
      if (length > bodyLimits.maxBytes) throw tooLarge();
      chunks.push(chunk);
    }
  } finally {
    clearTimeout(timer);
  }
  return Buffer.concat(chunks, length);
}

/** Ends with the signal's reason, also while it waits for a chunk. */
async function* until<Chunk>(signal: AbortSignal, body: ReadableStream<Chunk>): AsyncGenerator<Chunk> {
  const reader = body.getReader();
  const aborted = new Promise<never>((_resolve, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  });
  aborted.catch(() => undefined);
  try {
    for (;;) {
      const { value, done } = await Promise.race([reader.read(), aborted]);
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel().catch(() => undefined);
  }
}

function checkJson(bytes: Uint8Array): void {
  try {
    parseJson(bytes, { what: "The body", ...bodyLimits, refuseProto: true });
  } catch (error) {
    if (InputInvalid.is(error)) throw error;
    throw new InputInvalid("The body is not valid JSON.", { cause: error });
  }
}

const tooLarge = (): HttpProblem =>
  new HttpProblem(
    "BODY_TOO_LARGE",
    `The body is larger than ${bodyLimits.maxBytes} bytes.`,
    "Put large content into files.",
  );

const tooSlow = (): HttpProblem => new HttpProblem("REQUEST_TIMEOUT", "The request took too long to arrive.");

const unsupported = (type: string | null): HttpProblem =>
  new HttpProblem(
    "UNSUPPORTED_MEDIA_TYPE",
    type === null ? "The body has no content type." : `Bodies of type ${type.slice(0, 100)} are not read.`,
    "Send JSON, with content-type: application/json.",
  );
