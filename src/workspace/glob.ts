import { InputInvalid } from "../domain/errors.ts";
import {
  type Characters,
  characters,
  choice,
  compile,
  complement,
  cutsOf,
  type Expression,
  includes,
  maxUnit,
  only,
  PatternMachine,
  type Program,
  reach,
  repeat,
  sequence,
  union,
} from "./pattern.ts";

const maxLength = 1000;
const maxNesting = 20;
const slash = 47;
const inName = complement(only(slash));
const anything = repeat(characters([0, maxUnit]));
const name = sequence(repeat(characters(inName), 1));
const folder = sequence(name, characters(only(slash)));

/**
 * Matches a path: `*`, `**`, `?`, `[a-z]`, `{a,b}`, `@(a|b)` and the other extended globs, and a leading `!`. Like
 * picomatch with `dot: true`, but in time proportional to the path: a regular expression would need minutes for
 * "*a*a*a*a*b". Other differences: `a/**` matches everything under `a` but not `a`, `a/**.ts` looks into folders
 * like `**.ts`, `[!a]` is "not a", and plain parentheses are literal.
 */
export function globMatcher(glob: string): (path: string) => boolean {
  const { bare, expression, isInverted } = parseGlob(glob);
  const machine = new PatternMachine(expression);
  return (path) => (path === bare || machine.matches(path)) !== isInverted;
}

interface ParsedGlob {
  /** The glob without its prefix. */
  readonly bare: string;
  /** Matches a whole path. */
  readonly expression: Expression;
  /** It matches the paths that the expression does not. */
  readonly isInverted: boolean;
}

function parseGlob(glob: string): ParsedGlob {
  if (glob.length > maxLength) throw refused(`is longer than ${maxLength} characters`);
  const isInverted = glob.startsWith("!") && !glob.startsWith("!(");
  const bare = (isInverted ? glob.slice(1) : glob).replace(/^(?:\.\/)+/, "");
  return { bare, expression: new Reader(bare).read(), isInverted };
}

class Reader {
  readonly #glob: string;
  #at = 0;
  #depth = 0;

  constructor(glob: string) {
    this.#glob = glob;
  }

  read(): Expression {
    return this.#until("", true);
  }

  /** `isStart`: a name begins here, so `**` may stand for folders. */
  #until(stops: string, isStart: boolean): Expression {
    const parts: Expression[] = [];
    let atStart = isStart;
    while (this.#at < this.#glob.length && !stops.includes(this.#next)) {
      parts.push(atStart && this.#isDoubleStar() ? this.#doubleStar() : this.#one(atStart));
      atStart = this.#glob[this.#at - 1] === "/";
    }
    return sequence(...parts);
  }

  #isDoubleStar(): boolean {
    return this.#glob.startsWith("**", this.#at) && !"*(".includes(this.#glob[this.#at + 2] ?? "end");
  }

  #doubleStar(): Expression {
    this.#at += 2;
    if (this.#next !== "/") return anything;
    this.#at += 1;
    return repeat(folder);
  }

  #one(atStart: boolean): Expression {
    const next = this.#next;
    if ("@?*+!".includes(next) && this.#glob[this.#at + 1] === "(" && this.#closes("(", ")") !== undefined) {
      return this.#extended(next);
    }
    this.#at += 1;
    if (next === "\\" && this.#at < this.#glob.length) {
      this.#at += 1;
      return literal(this.#glob[this.#at - 1] ?? "");
    }
    if (next === "?") return characters(inName);
    if (next === "*") {
      while (this.#next === "*" && this.#glob[this.#at + 1] !== "(") this.#at += 1;
      return repeat(characters(inName));
    }
    if (next === "[") return this.#set() ?? literal("[");
    if (next === "{") return this.#braces(atStart) ?? literal("{");
    return literal(next);
  }

  #extended(kind: string): Expression {
    if (kind === "!") throw refused('uses "!(", which is not supported');
    this.#at += 2;
    const inside = this.#options("|", ")", false);
    if (kind === "@") return inside;
    return repeat(inside, kind === "+" ? 1 : 0, kind === "?" ? 1 : Number.POSITIVE_INFINITY);
  }

  /** Braces without a comma or an end are literal. */
  #braces(atStart: boolean): Expression | undefined {
    if (this.#closes("{", "}", this.#at - 1)?.hasComma !== true) return undefined;
    return this.#options(",", "}", atStart);
  }

  #options(between: string, end: string, atStart: boolean): Expression {
    this.#depth += 1;
    if (this.#depth > maxNesting) throw refused(`has more than ${maxNesting} groups in each other`);
    const options: Expression[] = [];
    do options.push(this.#until(between + end, atStart));
    while (this.#glob[this.#at++] === between);
    this.#depth -= 1;
    return choice(options);
  }

  #set(): Expression | undefined {
    const found = /(?<not>[!^]?)(?<members>\]?(?:\\.|[^\]\\/])*)\]/y;
    found.lastIndex = this.#at;
    const groups = found.exec(this.#glob)?.groups;
    const members = groups?.["members"] ?? "";
    if (members === "") return undefined;
    this.#at = found.lastIndex;
    const set = membersOf(members);
    return characters(groups?.["not"] === "" ? set : complement(union([set, only(slash)])));
  }

  /** Finds the end of a group without parsing its content. */
  #closes(open: string, close: string, from = this.#at): { readonly hasComma: boolean } | undefined {
    let depth = 0;
    let hasComma = false;
    for (let at = from; at < this.#glob.length; at += 1) {
      const here = this.#glob[at];
      if (here === "\\") at += 1;
      else if (here === open) depth += 1;
      else if (here === "," && depth === 1) hasComma = true;
      else if (here === close) {
        depth -= 1;
        if (depth === 0) return { hasComma };
      }
    }
    return undefined;
  }

  get #next(): string {
    return this.#glob[this.#at] ?? "";
  }
}

function membersOf(text: string): Characters {
  const sets: Characters[] = [];
  for (const [, from = "", to = ""] of text.matchAll(/(\\.|[^\\])(?:-(\\.|[^\\]))?/gs)) {
    const first = lastUnit(from);
    const last = to === "" ? first : lastUnit(to);
    if (first <= last) sets.push([first, last]);
  }
  return union(sets);
}

const lastUnit = (text: string): number => text.charCodeAt(text.length - 1);
const literal = (character: string): Expression => characters(only(character.charCodeAt(0)));

const refused = (why: string): InputInvalid =>
  new InputInvalid(`The glob ${why}.`, { advice: 'Use a simpler one, such as "src/**/*.ts".' });

/** More state pairs than any sensible glob needs. Beyond this the answer is no. */
const maxPairs = 1_000;

/** The instructions reached by a text, without splits. */
type Reached = readonly number[];

/**
 * Whether `outer` matches every path that `inner` matches, and there is such a path. Follows both over all texts at
 * once, so the answer is exact without trying paths.
 */
export function isWithin(inner: string, outer: string): boolean {
  const [narrow, wide] = [new Walker(inner), new Walker(outer)];
  // No instruction of either program distinguishes two characters between the same cuts.
  const letters = new Set([...cutsOf(narrow.program), ...cutsOf(wide.program)]);
  const open: [Reached, Reached][] = [[narrow.first, wide.first]];
  const seen = new Set<string>();
  let isShared = false;
  for (const [here, there] of open) {
    if (narrow.matches(here)) {
      if (!wide.matches(there)) return false;
      isShared = true;
    }
    for (const letter of letters) {
      const next = narrow.after(here, letter);
      if (narrow.isOver(next)) continue;
      const beside = wide.after(there, letter);
      const pair = `${next.join()} ${beside.join()}`;
      if (seen.has(pair)) continue;
      if (seen.size >= maxPairs) return false;
      seen.add(pair);
      open.push([next, beside]);
    }
  }
  return isShared;
}

class Walker {
  readonly program: Program;
  readonly first: Reached;
  readonly #isInverted: boolean;

  constructor(glob: string) {
    const { expression, isInverted } = parseGlob(glob);
    this.program = compile(expression);
    this.#isInverted = isInverted;
    this.first = this.#reach([this.program.start]);
  }

  matches(reached: Reached): boolean {
    return reached.some((at) => this.program.instructions[at]?.kind === "found") !== this.#isInverted;
  }

  /** No continuation can match. */
  isOver(reached: Reached): boolean {
    return reached.length === 0 && !this.#isInverted;
  }

  after(reached: Reached, letter: number): Reached {
    const next = reached.flatMap((at) => {
      const instruction = this.program.instructions[at];
      return instruction?.kind === "take" && includes(instruction.set, letter) ? [instruction.next] : [];
    });
    return this.#reach(next);
  }

  #reach(seeds: readonly number[]): Reached {
    return [...reach(this.program, seeds)]
      .filter((at) => this.program.instructions[at]?.kind !== "split")
      .sort((one, other) => one - other);
  }
}
