import { InputInvalid } from "../../domain/errors.ts";
import {
  type Characters,
  complement,
  digits,
  ignoringCase,
  lineEnds,
  only,
  spaces,
  union,
  wordCharacters,
} from "./characters.ts";
import { characters, choice, type Expression, place, repeat, sequence } from "./expression.ts";

const maxGroupDepth = 50;
const maxCount = 1000;

const classes: Readonly<Record<string, Characters>> = {
  d: digits,
  D: complement(digits),
  w: wordCharacters,
  W: complement(wordCharacters),
  s: spaces,
  S: complement(spaces),
};
const controls: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };

export interface RegularExpressionOptions {
  readonly ignoreCase: boolean;
}

/** JavaScript's regular expressions without what needs backtracking: no look-around and no back-references. */
export function parseRegularExpression(source: string, options: RegularExpressionOptions): Expression {
  return new Reader(source, options.ignoreCase).read();
}

class Reader {
  readonly #source: string;
  readonly #ignoreCase: boolean;
  #at = 0;
  #depth = 0;

  constructor(source: string, ignoreCase: boolean) {
    this.#source = source;
    this.#ignoreCase = ignoreCase;
  }

  read(): Expression {
    const expression = this.#choice();
    if (this.#at < this.#source.length) throw refused('has a ")" without "("');
    return expression;
  }

  #choice(): Expression {
    const options = [this.#sequence()];
    while (this.#takes("|")) options.push(this.#sequence());
    return choice(options);
  }

  #sequence(): Expression {
    const parts: Expression[] = [];
    while (this.#at < this.#source.length && !"|)".includes(this.#next)) parts.push(this.#repeated());
    return sequence(...parts);
  }

  #repeated(): Expression {
    const start = this.#at;
    const one = this.#one();
    const count = this.#count();
    if (count === undefined) return one;
    if (one.kind === "place")
      throw refused(`repeats ${JSON.stringify(this.#source[start])}, which is a place`);
    // Lazy or greedy makes no difference to whether it matches.
    this.#takes("?");
    if (this.#count() !== undefined) throw refused("has two repetitions in a row");
    return repeat(one, ...count);
  }

  #count(): readonly [number, number] | undefined {
    if (this.#takes("*")) return [0, Number.POSITIVE_INFINITY];
    if (this.#takes("+")) return [1, Number.POSITIVE_INFINITY];
    if (this.#takes("?")) return [0, 1];
    const found = this.#matches(/\{(\d{1,6})(,?)(\d{0,6})\}/y);
    if (found === undefined) return undefined;
    const least = Number(found[1]);
    const most = found[3] ? Number(found[3]) : found[2] ? Number.POSITIVE_INFINITY : least;
    if (least > most) throw refused(`has the numbers of ${found[0]} out of order`);
    if (least > maxCount || (most > maxCount && most !== Number.POSITIVE_INFINITY)) {
      throw refused(`repeats more than ${maxCount} times`);
    }
    return [least, most];
  }

  #one(): Expression {
    const next = this.#read();
    switch (next) {
      case ".":
        return characters(complement(lineEnds));
      case "^":
        return place("start");
      case "$":
        return place("end");
      case "[":
        return characters(this.#set());
      case "(":
        return this.#group();
      case "\\":
        return this.#escape();
      case "*":
      case "+":
      case "?":
        throw refused(`has a ${JSON.stringify(next)} with nothing before it to repeat`);
      default:
        return characters(this.#cased(only(next.charCodeAt(0))));
    }
  }

  #group(): Expression {
    this.#depth += 1;
    if (this.#depth > maxGroupDepth) throw refused(`has more than ${maxGroupDepth} groups in each other`);
    if (this.#takes("?") && this.#matches(/:|<[A-Za-z_$][\w$]*>/y) === undefined) {
      throw refused("uses look-around or another special group, which is not supported");
    }
    const inside = this.#choice();
    if (!this.#takes(")")) throw refused('has a "(" without ")"');
    this.#depth -= 1;
    return inside;
  }

  #escape(): Expression {
    if (this.#takes("b")) return place("word-boundary");
    if (this.#takes("B")) return place("no-word-boundary");
    const escaped = this.#escaped();
    return characters(typeof escaped === "number" ? this.#cased(only(escaped)) : escaped);
  }

  /** A class such as \d, or the number of one character. */
  #escaped(): Characters | number {
    const code = this.#matches(/x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})/y);
    if (code !== undefined) return Number.parseInt(code[1] ?? code[2] ?? "", 16);
    const letter = this.#read();
    const found = classes[letter] ?? controls[letter];
    if (found !== undefined) return found;
    if (/[1-9k]/.test(letter)) throw refused(`uses the back-reference \\${letter}, which is not supported`);
    if (/[A-Za-z]/.test(letter)) throw refused(`uses \\${letter}, which is not supported`);
    return letter.charCodeAt(0);
  }

  #set(): Characters {
    const isInverted = this.#takes("^");
    const members: Characters[] = [];
    while (!this.#takes("]")) {
      if (this.#at >= this.#source.length) throw refused('has a "[" without "]"');
      members.push(this.#member());
    }
    const set = this.#cased(union(members));
    return isInverted ? complement(set) : set;
  }

  #member(): Characters {
    const from = this.#unit();
    if (this.#next !== "-" || this.#source[this.#at + 1] === "]") return asSet(from);
    this.#read();
    const to = this.#unit();
    // With a class at either end the hyphen stands for itself.
    if (typeof from !== "number" || typeof to !== "number") return union([asSet(from), asSet(to), only(45)]);
    if (from > to) throw refused("has a range of characters out of order");
    return [from, to];
  }

  #unit(): Characters | number {
    const next = this.#read();
    if (next !== "\\") return next.charCodeAt(0);
    return this.#takes("b") ? 8 : this.#escaped();
  }

  #cased(set: Characters): Characters {
    return this.#ignoreCase ? ignoringCase(set) : set;
  }

  get #next(): string {
    return this.#source[this.#at] ?? "";
  }

  #read(): string {
    const { at, source } = { at: this.#at, source: this.#source };
    if (at >= source.length) throw refused("ends too early");
    this.#at += 1;
    return source[at] ?? "";
  }

  #takes(character: string): boolean {
    if (this.#next !== character) return false;
    this.#at += 1;
    return true;
  }

  #matches(pattern: RegExp): RegExpExecArray | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#source);
    if (found === null) return undefined;
    this.#at = pattern.lastIndex;
    return found;
  }
}

const asSet = (unit: Characters | number): Characters => (typeof unit === "number" ? only(unit) : unit);

const refused = (why: string): InputInvalid =>
  new InputInvalid(`The regular expression ${why}.`, {
    advice: "Simplify it, or search for plain text by leaving out the slashes around it.",
  });
