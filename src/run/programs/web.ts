import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import { InputInvalid } from "../../domain/errors.ts";
import {
  AddressRefused,
  AnswerTooLarge,
  type GuardedAnswer,
  guardedRequest,
  hostOf,
  NoAnswer,
} from "../../network/guarded-request.ts";
import { ServiceLost } from "../../personas/mcp/service-lost.ts";
import type { FetchedPage } from "../../personas/model/ports.ts";
import { isListed, portOf } from "../../workspace/network/host-list.ts";
import { htmlToText } from "./html-text.ts";

const maxRedirects = 5;
const maxBytes = 2 * 1024 * 1024;
const defaultLimitMs = 30_000;

export interface WebReach {
  /** The hosts that pages may come from. */
  readonly allow: readonly string[];
  /** All addresses of a host name. */
  readonly resolve?: (host: string) => Promise<readonly string[]>;
  readonly limitMs?: number;
}

/**
 * A page as text. Every address on the way is checked: the host must be listed, and the address that it is connected to
 * must be public, unless the list names that address itself. What the model did wrong, and what waiting does not mend, is
 * told to it; a server that does not answer is an outage.
 */
export async function fetchPage(asked: string, reach: WebReach, signal: AbortSignal): Promise<FetchedPage> {
  const { allow, resolve, limitMs = defaultLimitMs } = reach;
  let url = allowed(asked, undefined, allow);
  const late = AbortSignal.timeout(limitMs);
  const request = (): Promise<GuardedAnswer> =>
    guardedRequest({
      method: "GET",
      url,
      headers: { accept: "text/html, text/*;q=0.9, application/json;q=0.9, */*;q=0.1" },
      signal: AbortSignal.any([signal, late]),
      // An address of the machine's own network counts where the list names it.
      reach: { allowInternal: false, trustWritten: true, resolve },
    });
  try {
    for (let count = 0; count <= maxRedirects; count += 1) {
      const answer = await request();
      const location = redirectOf(answer);
      if (location === undefined) return await pageOf(url, answer);
      answer.drop();
      url = allowed(location, url, allow);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw described(error, url, late.aborted ? limitMs : undefined);
  }
  throw new InputInvalid(`${asked} redirects more than ${maxRedirects} times.`);
}

/** `from`: the page that redirects to it. */
function allowed(text: string, from: URL | undefined, allow: readonly string[]): URL {
  const url = URL.parse(text, from);
  const whence = from === undefined ? "" : `${from.href} redirects to another address. `;
  if (url === null || !/^https?:$/.test(url.protocol))
    throw new InputInvalid(
      `${whence}${text.slice(0, 200)} is not an address that begins with https:// or http://.`,
    );
  if (url.username !== "" || url.password !== "")
    throw new InputInvalid(`${whence}An address with a user or a password is not fetched.`);
  const host = hostOf(url);
  if (!isListed(allow, host, portOf(url)))
    throw new InputInvalid(`${whence}${host}:${portOf(url)} is not one of the hosts that may be read.`, {
      advice: `They are: ${allow.join(", ")}.`,
    });
  url.hash = "";
  return url;
}

function redirectOf({ status, headers }: GuardedAnswer): string | undefined {
  return [301, 302, 303, 307, 308].includes(status) ? (headers.get("location") ?? undefined) : undefined;
}

/** Waiting may help. */
const outages = [429, 502, 503, 504];

async function pageOf(url: URL, answer: GuardedAnswer): Promise<FetchedPage> {
  const { status, headers } = answer;
  const [type = "", ...parameters] = (headers.get("content-type") ?? "")
    .split(";")
    .map((part) => part.trim());
  const refuse = (why: string): InputInvalid => {
    answer.drop();
    return new InputInvalid(`${url.href} ${why}`);
  };
  if (outages.includes(status)) {
    answer.drop();
    throw new ServiceLost(`${hostOf(url)} answered with status ${status}.`, undefined);
  }
  if (status < 200 || status > 299) throw refuse(`answered with status ${status}.`);
  if (type !== "" && !isText(type.toLowerCase()))
    throw refuse(`is ${type.slice(0, 100)}, which is not text.`);
  const bytes = await unpacked(await answer.read(maxBytes), headers.get("content-encoding") ?? "", url);
  const isHtml = /html/i.test(type) || (type === "" && /^\s*<(?:!doctype html|html)/i.test(latin(bytes)));
  const text = decoded(bytes, parameters, isHtml);
  if (text.includes("\0")) throw refuse("is binary data.");
  return {
    url: url.href,
    type: type === "" ? "text/plain" : type.toLowerCase(),
    text: isHtml ? htmlToText(text, url) : text,
  };
}

const isText = (type: string): boolean =>
  type.startsWith("text/") ||
  /^application\/(?:(?:[\w.-]+\+)?(?:json|xml|yaml)|x-yaml|toml|javascript|ecmascript|x-ndjson|jsonl|graphql|sql|x-sh)$/.test(
    type,
  );

const unpackers: Readonly<Record<string, (bytes: Uint8Array) => Promise<Buffer>>> = {
  gzip: (bytes) => promisify(gunzip)(bytes, { maxOutputLength: maxBytes }),
  deflate: (bytes) => promisify(inflate)(bytes, { maxOutputLength: maxBytes }),
  br: (bytes) => promisify(brotliDecompress)(bytes, { maxOutputLength: maxBytes }),
};

/** Some servers pack an answer although they were asked not to; a small one may unpack to a huge one. */
async function unpacked(bytes: Uint8Array, encoding: string, url: URL): Promise<Uint8Array> {
  const name = encoding.trim().toLowerCase().replace(/^x-/, "");
  if (name === "" || name === "identity") return bytes;
  const unpack = Object.hasOwn(unpackers, name) ? unpackers[name] : undefined;
  if (unpack === undefined)
    throw new InputInvalid(`${url.href} is packed in a way that is not known: ${name.slice(0, 50)}.`);
  try {
    return await unpack(bytes);
  } catch (cause) {
    if ((cause as { code?: string }).code === "ERR_BUFFER_TOO_LARGE") throw new AnswerTooLarge(maxBytes);
    throw new InputInvalid(`${url.href} cannot be unpacked: ${(cause as Error).message}`, { cause });
  }
}

const latin = (bytes: Uint8Array): string => Buffer.from(bytes.subarray(0, 1024)).toString("latin1");

/** By its mark, the header or the page itself; otherwise UTF-8. */
function decoded(bytes: Uint8Array, parameters: readonly string[], isHtml: boolean): string {
  const header = parameters.map((one) => /^charset\s*=\s*"?([\w:.-]{1,40})/i.exec(one)?.[1]).find(Boolean);
  const inPage = isHtml
    ? /<meta[^>]{0,200}charset\s{0,4}=\s{0,4}["']?([\w:.-]{1,40})/i.exec(latin(bytes))?.[1]
    : undefined;
  return decoderFor(markOf(bytes) ?? header ?? inPage ?? "utf-8").decode(bytes);
}

function markOf([first, second]: Uint8Array): string | undefined {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

function decoderFor(label: string): TextDecoder {
  try {
    return new TextDecoder(label);
  } catch {
    return new TextDecoder();
  }
}

/** Codes of failures that the next try would meet again: no such host, a wrong certificate, no HTTP. */
const permanent = /^(?:ENOTFOUND|ENODATA|EPROTO|HPE_|ERR_TLS|ERR_SSL|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO)|CERT/;

function described(error: unknown, url: URL, lateMs: number | undefined): unknown {
  if (InputInvalid.is(error) || error instanceof ServiceLost) return error;
  const host = hostOf(url);
  if (lateMs !== undefined) return new ServiceLost(`${host} did not answer within ${lateMs} ms.`, error);
  if (error instanceof AnswerTooLarge)
    return new InputInvalid(`${url.href} is larger than ${maxBytes} bytes, and nothing of it was read.`);
  if (error instanceof AddressRefused)
    return new InputInvalid(
      error.address === undefined
        ? `${host} has no address.`
        : `${host} is an address of this machine or its network, which is not read.`,
    );
  const cause = (error instanceof NoAnswer ? error.cause : error) as { code?: unknown; message?: string };
  const why = cause.message ?? "the connection ended";
  if (typeof cause.code === "string" && permanent.test(cause.code))
    return new InputInvalid(`${url.href} cannot be read: ${why}`, { cause: error });
  return new ServiceLost(`${host} did not answer: ${why}`, error);
}
