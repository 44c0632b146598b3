import { isIP } from "node:net";
import { resolve } from "node:path";
import { advise } from "../domain/advice.ts";
import { InputInvalid, RecoverableError } from "../domain/errors.ts";
import { readBounded } from "../store/durable-file.ts";
import { mostPriceBytes } from "./price-data.ts";

const downloadMs = 60_000;
const mostRedirects = 3;

/** The address where the table's maker publishes it. */
export const publishedAt = async (): Promise<string> =>
  (await import("@pydantic/genai-prices")).REMOTE_DATA_JSON_URL;

/** Reads a file or an address and returns its bytes and source. */
export async function readPriceSource(
  from: string,
): Promise<{ readonly bytes: Uint8Array; readonly from: string }> {
  if (/^[a-z][a-z0-9+.-]*:\/\//i.test(from)) return { bytes: await download(from), from };
  const path = resolve(from);
  const bytes = await readBounded(path, mostPriceBytes);
  if (bytes !== undefined) return { bytes, from: path };
  throw new InputInvalid(`There is no file ${path}.`, { advice: "Check --from.", details: { path } });
}

async function download(address: string): Promise<Uint8Array> {
  const signal = AbortSignal.timeout(downloadMs);
  let url = checked(address);
  try {
    for (let hops = 0; hops <= mostRedirects; hops += 1) {
      const answer = await fetch(url, {
        redirect: "manual",
        signal,
        headers: { accept: "application/json" },
      });
      const next = answer.headers.get("location");
      if (answer.status >= 300 && answer.status < 400 && next !== null) {
        await answer.body?.cancel();
        url = checked(new URL(next, url).href);
        continue;
      }
      if (!answer.ok) {
        await answer.body?.cancel();
        throw notDownloaded(address, `the server answered ${answer.status}`);
      }
      return await readBody(answer, address);
    }
  } catch (error) {
    if (error instanceof InputInvalid || error instanceof RecoverableError) throw error;
    throw notDownloaded(address, reasonOf(error), error);
  }
  throw notDownloaded(address, `it was redirected more than ${mostRedirects} times`);
}

/** A price changed in transit could lift a dollar budget, so the address must be encrypted. */
function checked(address: string): URL {
  const url = URL.parse(address);
  const isSafe = url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url.hostname));
  if (url !== null && isSafe && url.username === "" && url.password === "") return url;
  throw new InputInvalid(
    "The prices can be read from an https address without a user name, or from a file.",
    {
      advice: "Correct --from. Plain http is accepted from this machine only.",
    },
  );
}

const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || (isIP(host) === 4 && host.startsWith("127."));

async function readBody(answer: Response, address: string): Promise<Uint8Array> {
  const parts: Uint8Array[] = [];
  let size = 0;
  for await (const part of answer.body ?? []) {
    parts.push(part);
    size += part.byteLength;
    if (size > mostPriceBytes) throw notDownloaded(address, `it is larger than ${mostPriceBytes} bytes`);
  }
  return Buffer.concat(parts);
}

function reasonOf(error: unknown): string {
  const { name, cause, message } = error as Error & { readonly cause?: { readonly code?: string } };
  if (name === "TimeoutError") return `it took longer than ${downloadMs / 1_000} s`;
  return cause?.code ?? message;
}

const notDownloaded = (address: string, why: string, cause?: unknown): RecoverableError =>
  new RecoverableError(`The prices could not be downloaded from ${address}: ${why}.`, {
    advice: [
      advise("The prices in use stay as they are."),
      advise(
        "Download the table where there is a network, and read it from a file",
        "prices",
        "update",
        "--from",
        "<file>",
      ),
    ],
    details: { from: address },
    ...(cause !== undefined && { cause }),
  });
