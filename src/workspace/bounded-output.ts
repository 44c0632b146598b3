/** Keeps the beginning and the end of what a process prints: one says what ran, the other how it ended. */
export class BoundedOutput {
  readonly #head: Buffer[] = [];
  readonly #tail: Buffer;
  #headLeft: number;
  #tailAt = 0;
  #total = 0;

  constructor(maxBytes: number) {
    const half = Math.max(0, Math.floor(maxBytes / 2));
    this.#headLeft = half;
    // A ring, for a process that prints without end, a byte at a time.
    this.#tail = Buffer.allocUnsafe(half);
  }

  add(chunk: Buffer): void {
    this.#total += chunk.length;
    const first = chunk.subarray(0, this.#headLeft);
    if (first.length > 0) this.#head.push(Buffer.from(first));
    this.#headLeft -= first.length;
    this.#addToTail(chunk.subarray(first.length));
  }

  get isTruncated(): boolean {
    return this.#leftOut > 0;
  }

  text(): string {
    const head = Buffer.concat(this.#head);
    const written = this.#total - head.length;
    const ring = this.#tail;
    const tail =
      written <= ring.length
        ? ring.subarray(0, written)
        : Buffer.concat([ring.subarray(this.#tailAt), ring.subarray(0, this.#tailAt)]);
    if (!this.isTruncated) return Buffer.concat([head, tail]).toString();
    const note = `\n[... ${this.#leftOut} bytes left out ...]\n`;
    return `${withoutHalfEnd(head)}${note}${withoutHalfBeginning(tail)}`;
  }

  get #leftOut(): number {
    const head = this.#head.reduce((sum, { length }) => sum + length, 0);
    return Math.max(0, this.#total - head - this.#tail.length);
  }

  #addToTail(chunk: Buffer): void {
    const ring = this.#tail;
    if (ring.length === 0) return;
    const last = chunk.subarray(Math.max(0, chunk.length - ring.length));
    const fitting = last.copy(ring, this.#tailAt);
    last.copy(ring, 0, fitting);
    this.#tailAt = (this.#tailAt + last.length) % ring.length;
  }
}

/** A streaming decoder holds back the half character at the end. */
const withoutHalfEnd = (bytes: Buffer): string => new TextDecoder().decode(bytes, { stream: true });

/** At most three bytes continue a character whose first byte is lost. */
function withoutHalfBeginning(bytes: Buffer): string {
  let start = 0;
  while (start < 3 && ((bytes[start] ?? 0) & 0b1100_0000) === 0b1000_0000) start += 1;
  return bytes.toString("utf8", start);
}
