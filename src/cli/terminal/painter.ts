import { stripVTControlCharacters } from "node:util";
import { widthOf } from "./width.ts";

interface Output {
  write(text: string): unknown;
}

/** Synchronized output: a terminal that supports it shows the frame at once; others ignore the marks. */
const whole = (text: string): string => `\u001b[?2026h${text}\u001b[?2026l`;

/** Repaints lines at the bottom of the terminal; other output scrolls above them. */
export class Painter {
  readonly #output: Output;
  readonly #columns: () => number;
  #lines: readonly string[] = [];

  constructor(output: Output, columns: () => number) {
    this.#output = output;
    this.#columns = columns;
  }

  paint(lines: readonly string[]): void {
    if (lines.length === this.#lines.length && lines.every((line, index) => line === this.#lines[index]))
      return;
    const body = lines.map((line) => `\u001b[2K${line}\n`).join("");
    this.#output.write(whole(`${this.#back()}${body}\u001b[J`));
    this.#lines = lines;
  }

  /** Prints a line above the frame. */
  say(text: string): void {
    const lines = this.#lines;
    this.#output.write(`${this.#back()}\u001b[J${text}\n`);
    this.#lines = [];
    this.paint(lines);
  }

  /** Leaves the last frame on the screen. */
  leave(): void {
    this.#lines = [];
  }

  clear(): void {
    if (this.#lines.length > 0) this.#output.write(`${this.#back()}\u001b[J`);
    this.#lines = [];
  }

  /** Moves to the start of the frame. A terminal that became narrower has wrapped its lines. */
  #back(): string {
    const columns = this.#columns();
    const height = this.#lines.reduce((sum, line) => {
      const width = widthOf(stripVTControlCharacters(line));
      return sum + Math.max(1, Math.ceil(width / columns));
    }, 0);
    return height === 0 ? "" : `\u001b[${height}A\r`;
  }
}
