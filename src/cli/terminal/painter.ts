import { stripVTControlCharacters } from "node:util";
import { widthOf } from "./width.ts";

interface Output {
  write(text: string): unknown;
}

/** A terminal that knows synchronized output shows none of it before all of it has come; others pass over the marks. */
const whole = (text: string): string => `\u001b[?2026h${text}\u001b[?2026l`;

/** Lines at the bottom of the terminal that are painted over; everything else scrolls up above them. */
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

  /** A line that stays. */
  say(text: string): void {
    const lines = this.#lines;
    this.#output.write(`${this.#back()}\u001b[J${text}\n`);
    this.#lines = [];
    this.paint(lines);
  }

  /** The last frame stays where it is. */
  leave(): void {
    this.#lines = [];
  }

  clear(): void {
    if (this.#lines.length > 0) this.#output.write(`${this.#back()}\u001b[J`);
    this.#lines = [];
  }

  /** To the beginning of the frame. A terminal that became narrower since has wrapped its lines. */
  #back(): string {
    const columns = this.#columns();
    const height = this.#lines.reduce((sum, line) => {
      const width = widthOf(stripVTControlCharacters(line));
      return sum + Math.max(1, Math.ceil(width / columns));
    }, 0);
    return height === 0 ? "" : `\u001b[${height}A\r`;
  }
}
