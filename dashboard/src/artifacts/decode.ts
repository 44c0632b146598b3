import { plainText } from "../format/plain-text.ts";

/** Over this the page offers a download instead of a view. */
export const mostShownBytes = 1_000_000;

const sniffed = 8000;

/** Text with everything that acts made visible, or undefined when it is none. */
export function decodeText(content: Uint8Array): string | undefined {
  if (content.subarray(0, sniffed).includes(0)) return undefined;
  try {
    return plainText(new TextDecoder("utf-8", { fatal: true }).decode(content));
  } catch {
    return undefined;
  }
}
