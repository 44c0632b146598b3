import { useQuery } from "@tanstack/react-query";
import { blobQuery } from "../api/queries.ts";
import { plainText } from "../format/plain-text.ts";

/** For larger files the page offers a download instead of a view. */
export const mostShownBytes = 1_000_000;

const sniffed = 8000;

/** Decodes text and makes control characters visible; undefined if the bytes are not text. */
export function decodeText(content: Uint8Array): string | undefined {
  if (content.subarray(0, sniffed).includes(0)) return undefined;
  try {
    return plainText(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    return undefined;
  }
}

/** A newline at the end starts no further line. */
export function linesOf(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** `text` is undefined for binary and large files. */
const readText = (content: Uint8Array) => ({
  text: content.length > mostShownBytes ? undefined : decodeText(content),
  bytes: content.length,
});

/** Reads an artifact as text. A null hash means no file and reads as empty. */
export function useText(sessionId: string, sha256: string | null) {
  const query = useQuery({
    ...blobQuery(sessionId, sha256 ?? ""),
    enabled: sha256 !== null,
    select: readText,
  });
  if (sha256 === null) return { data: { text: "", bytes: 0 }, error: null, refetch: query.refetch };
  return query;
}
