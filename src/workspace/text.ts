import { isUtf8 } from "node:buffer";

/** `undefined` for what is not text: not UTF-8, or with a NUL in it, as UTF-16 has. A byte order mark stays. */
export function decodeText(bytes: Uint8Array): string | undefined {
  if (!isUtf8(bytes) || bytes.includes(0)) return undefined;
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("utf8");
}

/** Lines with their ends, so that joined they are the text again. */
export function splitLines(text: string): string[] {
  const lines: string[] = [];
  for (let start = 0; start < text.length; ) {
    const end = text.indexOf("\n", start);
    const next = end === -1 ? text.length : end + 1;
    lines.push(text.slice(start, next));
    start = next;
  }
  return lines;
}

/** One line for people: without its end, not endless, and with nothing in it that a terminal would act on. */
export function cutLine(line: string, maxLength = 160): string {
  const bare = line.replace(/\r?\n$/, "").replace(/(?!\t)\p{Cc}/gu, "\ufffd");
  return bare.length > maxLength ? `${bare.slice(0, maxLength)}…` : bare;
}
