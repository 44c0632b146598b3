import { closest } from "../../domain/closest.ts";
import type { GivenFiles } from "./given-files.ts";
import { definitionLimits } from "./limits.ts";

/** The path from the top of a team file to a value: keys and positions. */
export type SourcePath = readonly (string | number)[];

export interface Problem {
  readonly path: SourcePath;
  /** Whether the key itself or its value is wrong. */
  readonly on: "key" | "value";
  readonly sentence: string;
}

/** Comparing two names takes time in the product of their lengths, and a hostile file may have long ones. */
const maxComparedLetters = 10_000_000;

/** All problems of a team, in the order of finding. */
export class Problems {
  /** The source of the team's skills and texts. Undefined for a recorded team, which has them by hash. */
  readonly files: GivenFiles | undefined;
  readonly #found: Problem[] = [];
  readonly #told = new Set<string>();
  #lettersLeft = maxComparedLetters;

  constructor(files?: GivenFiles) {
    this.files = files;
  }

  /** A persona in several phases is checked in each. A problem that occurs in all of them is reported once. */
  add(problem: Problem): void {
    const before = this.count;
    this.#told.add(`${problem.path.join("\0")}\0${problem.sentence}`);
    if (this.count > before && this.#found.length < definitionLimits.problems) this.#found.push(problem);
  }

  get found(): readonly Problem[] {
    return this.#found;
  }

  /** Includes problems beyond the limit, which are only counted. */
  get count(): number {
    return this.#told.size;
  }

  /** The name that was probably meant, if searching for it is cheap. */
  closest(word: string, known: readonly string[]): string | undefined {
    if (this.#found.length >= definitionLimits.problems) return undefined;
    const letters = word.length * known.reduce((sum, { length }) => sum + length, 0);
    if (letters > this.#lettersLeft) return undefined;
    this.#lettersLeft -= letters;
    return closest(word, known);
  }

  /** " Did you mean ...?", or an empty text. */
  suggest(word: string, known: readonly string[]): string {
    const meant = this.closest(word, known);
    return meant === undefined ? "" : ` Did you mean "${meant}"?`;
  }
}

/** A place in a team: its title for people, and its path in the file. */
export class Place {
  readonly problems: Problems;
  readonly path: SourcePath;
  /** `phase "design"`. Computed on demand, because most places have no problem. */
  readonly #owner: string | (() => string);
  /** `gate.threshold`; empty for the owner itself. */
  readonly #label: string;

  constructor(problems: Problems, owner: string | (() => string), path: SourcePath, label = "") {
    this.problems = problems;
    this.path = path;
    this.#owner = owner;
    this.#label = label;
  }

  /** `phase "design": gate.threshold`. */
  get title(): string {
    const owner = typeof this.#owner === "string" ? this.#owner : this.#owner();
    return this.#label === "" ? owner : `${owner}: ${this.#label}`;
  }

  at(key: string | number): Place {
    const step = typeof key === "number" ? `[${key}]` : `.${key}`;
    const label = this.#label === "" ? String(key) : this.#label + step;
    return new Place(this.problems, this.#owner, [...this.path, key], label);
  }

  /** The same place with another title. */
  as(owner: string | (() => string)): Place {
    return new Place(this.problems, owner, this.path);
  }

  /** Reports the title followed by the rest of the sentence. */
  problem(rest: string, on: Problem["on"] = "value"): void {
    this.problems.add({ path: this.path, on, sentence: `${this.title} ${rest}` });
  }

  /** Reports a separate sentence about this place. */
  remark(sentence: string, on: Problem["on"] = "value"): void {
    this.problems.add({ path: this.path, on, sentence: `${this.title}: ${sentence}` });
  }
}
