import { finishedLength, mostUnfinished, openKey, redact, safeLength } from "./redact.ts";

/** The most text that is held back while its last word continues, besides the longest secret. */
const mostHeld = 16 * 1024;
/** Patterns such as `Authorization: Bearer` need the preceding text of the same line. */
const mostBefore = 400;
/**
 * The kept part of a key over several lines: its first line marks it as a key, and its last may be part of the end
 * mark.
 */
const mostKeyEnd = 100;

/** Redacts text that arrives in pieces, between which a secret may be split. */
export class RedactedText {
  #held = "";
  /** The end of the released part of the current line, unredacted. */
  #before = "";

  /** Returns the text that can be shown by now. */
  add(piece: string): string {
    this.#held += piece;
    const finished = finishedLength(this.#held);
    if (this.#held.length - finished <= mostHeld + mostUnfinished()) return this.#release(finished);
    const safe = safeLength(this.#before + this.#held) - this.#before.length;
    return this.#release(safe > 0 ? safe : this.#held.length);
  }

  /** Returns the rest, because nothing follows. */
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

/** The end of a text that affects the interpretation of the text after it. */
function endOf(text: string): string {
  const key = openKey(text);
  if (key === undefined) return text.slice(text.lastIndexOf("\n") + 1).slice(-mostBefore);
  const open = text.slice(key);
  return open.length <= mostBefore ? open : open.slice(0, mostBefore - mostKeyEnd) + open.slice(-mostKeyEnd);
}
