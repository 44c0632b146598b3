import { finishedLength, mostUnfinished, openKey, redact, safeLength } from "./redact.ts";

/** Text without an end to its last word is held back no longer than this, and the longest secret. */
const mostHeld = 16 * 1024;
/** Patterns such as `Authorization: Bearer` need what stands before on the same line. */
const mostBefore = 400;
/** How much of a key over several lines stays: its first line marks it as a key, its last may be part of the end mark. */
const mostKeyEnd = 100;

/** Redacts text that arrives in pieces: a secret may be split over two of them. */
export class RedactedText {
  #held = "";
  /** The end of the current line that was released, as it came. */
  #before = "";

  /** The text that can be shown by now. */
  add(piece: string): string {
    this.#held += piece;
    const finished = finishedLength(this.#held);
    if (this.#held.length - finished <= mostHeld + mostUnfinished()) return this.#release(finished);
    const safe = safeLength(this.#before + this.#held) - this.#before.length;
    return this.#release(safe > 0 ? safe : this.#held.length);
  }

  /** The rest: nothing follows. */
  end(): string {
    return this.#release(this.#held.length);
  }

  #release(length: number): string {
    if (length === 0) return "";
    const text = this.#held.slice(0, length);
    this.#held = this.#held.slice(length);
    const shownBefore = redact(this.#before);
    const line = this.#before + text;
    const shown = redact(line);
    this.#before = endOf(line);
    return shown.startsWith(shownBefore) ? shown.slice(shownBefore.length) : redact(text);
  }
}

/** The part of a text that decides what the text after it is. */
function endOf(text: string): string {
  const key = openKey(text);
  if (key === undefined) return text.slice(text.lastIndexOf("\n") + 1).slice(-mostBefore);
  const open = text.slice(key);
  return open.length <= mostBefore ? open : open.slice(0, mostBefore - mostKeyEnd) + open.slice(-mostKeyEnd);
}
