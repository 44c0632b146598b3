import type { Context, Script } from "node:vm";
import { InputInvalid } from "../domain/errors.ts";

/** Code units as sorted ranges that do not touch: from, to, from, to, both ends inclusive. */
export type Characters = readonly number[];

export const maxUnit = 0xffff;

export const only = (unit: number): Characters => [unit, unit];

export function union(sets: readonly Characters[]): Characters {
  const ranges: [number, number][] = [];
  for (const set of sets) for (const range of pairsOf(set)) ranges.push(range);
  ranges.sort(([a], [b]) => a - b);
  const merged: number[] = [];
  for (const [from, to] of ranges) {
    const end = merged.at(-1);
    if (end === undefined || from > end + 1) merged.push(from, to);
    else merged[merged.length - 1] = Math.max(end, to);
  }
  return merged;
}

export function complement(set: Characters): Characters {
  const inverted: number[] = [];
  let next = 0;
  for (const [from, to] of pairsOf(set)) {
    if (from > next) inverted.push(next, from - 1);
    next = to + 1;
  }
  if (next <= maxUnit) inverted.push(next, maxUnit);
  return inverted;
}

export function includes(set: Characters, unit: number): boolean {
  for (const [from, to] of pairsOf(set)) if (unit >= from && unit <= to) return true;
  return false;
}

export function* pairsOf(set: Characters): Iterable<[number, number]> {
  for (let index = 0; index < set.length; index += 2) yield [set[index] ?? 0, set[index + 1] ?? 0];
}

/** The meaning of a pattern, independent of its spelling. */
export type Expression =
  | { readonly kind: "characters"; readonly set: Characters }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly what: Expression; readonly least: number; readonly most: number };

export const sequence = (...parts: readonly Expression[]): Expression => ({ kind: "sequence", parts });
export const choice = (options: readonly Expression[]): Expression => ({ kind: "choice", options });
export const characters = (set: Characters): Expression => ({ kind: "characters", set });
export const repeat = (what: Expression, least = 0, most = Number.POSITIVE_INFINITY): Expression => ({
  kind: "repeat",
  what,
  least,
  most,
});

/** `next` and `or` are the instructions that follow. */
type Instruction =
  | { readonly kind: "take"; readonly set: Characters; readonly next: number }
  | { readonly kind: "split"; next: number; readonly or: number }
  | { readonly kind: "found" };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

const maxInstructions = 2000;

/** Compiles from the end to the beginning, so that each part knows the instruction after it. */
export function compile(expression: Expression): Program {
  const instructions: Instruction[] = [{ kind: "found" }];
  // An empty group repeated a thousand times adds no instruction but takes time.
  let work = 0;

  function emit(instruction: Instruction): number {
    return instructions.push(instruction) - 1;
  }

  function write(part: Expression, next: number): number {
    work += 1;
    if (work > 4 * maxInstructions || instructions.length > maxInstructions) throw tooLarge();
    switch (part.kind) {
      case "characters":
        return emit({ kind: "take", set: part.set, next });
      case "sequence":
        return part.parts.reduceRight((after, each) => write(each, after), next);
      case "choice":
        return part.options
          .map((option) => write(option, next))
          .reduceRight((or, option) => emit({ kind: "split", next: option, or }));
      case "repeat":
        return writeRepeat(part, next);
    }
  }

  function writeRepeat({ what, least, most }: Extract<Expression, { kind: "repeat" }>, next: number): number {
    let after = next;
    if (most === Number.POSITIVE_INFINITY) {
      const loop: Instruction = { kind: "split", next: 0, or: next };
      after = emit(loop);
      loop.next = write(what, after);
    } else {
      for (let count = least; count < most; count += 1) {
        after = emit({ kind: "split", next: write(what, after), or: next });
      }
    }
    for (let count = 0; count < least; count += 1) after = write(what, after);
    return after;
  }

  return { start: write(expression, 0), instructions };
}

/** The seeds and every instruction reachable from them without reading a character. */
export function reach({ instructions }: Program, seeds: readonly number[]): ReadonlySet<number> {
  const reached = new Set<number>();
  const open = [...seeds];
  for (let at = open.pop(); at !== undefined; at = open.pop()) {
    const instruction = instructions[at];
    if (instruction === undefined || reached.has(at)) continue;
    reached.add(at);
    if (instruction.kind === "split") open.push(instruction.next, instruction.or);
  }
  return reached;
}

const tooLarge = (): InputInvalid =>
  new InputInvalid("The glob is too large.", {
    advice: "Use smaller repetitions and fewer alternatives.",
  });

interface State {
  readonly seeds: readonly number[];
  /** The seeds and every instruction reachable from them without reading a character. */
  readonly reached: ReadonlySet<number>;
  /** The next state by class of characters, computed on first use. */
  readonly next: (State | undefined)[];
}

/** States are created on demand. A pattern with more transitions was made to be slow. */
const maxTransitions = 20_000;
const maxCells = 1_000_000;

/** Matches a whole text in time proportional to its length, for any pattern: it never backtracks. */
export class PatternMachine {
  readonly #program: Program;
  readonly #classes: Uint16Array;
  /** One character of each class. */
  readonly #samples: readonly number[];
  readonly #states = new Map<string, State>();
  readonly #first: State;
  #transitions = 0;

  constructor(expression: Expression) {
    this.#program = compile(expression);
    const cuts = cutsOf(this.#program);
    this.#samples = cuts;
    this.#classes = new Uint16Array(maxUnit + 1);
    cuts.forEach((from, index) => this.#classes.fill(index, from, cuts[index + 1] ?? maxUnit + 1));
    this.#first = this.#state([this.#program.start]);
  }

  matches(text: string): boolean {
    let state = this.#first;
    for (let index = 0; index < text.length; index += 1) {
      const kind = this.#classes[text.charCodeAt(index)] ?? 0;
      state = state.next[kind] ?? this.#step(state, kind);
      if (state.seeds.length === 0) return false;
    }
    return [...state.reached].some((at) => this.#program.instructions[at]?.kind === "found");
  }

  #step(state: State, kind: number): State {
    this.#transitions += 1;
    if (this.#transitions > maxTransitions) throw tooSlow();
    const next = this.#state(this.#take(state.reached, this.#samples[kind] ?? 0));
    state.next[kind] = next;
    return next;
  }

  #take(reached: ReadonlySet<number>, unit: number): number[] {
    const seeds = new Set<number>();
    for (const at of reached) {
      const instruction = this.#program.instructions[at];
      if (instruction?.kind === "take" && includes(instruction.set, unit)) seeds.add(instruction.next);
    }
    return [...seeds].sort((a, b) => a - b);
  }

  #state(seeds: readonly number[]): State {
    const key = seeds.join();
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size * this.#samples.length > maxCells) {
      this.#states.clear();
      // Every state is reachable from the first, so the first must forget them too.
      this.#first.next.length = 0;
    }
    const state: State = { seeds, reached: reach(this.#program, seeds), next: [] };
    this.#states.set(key, state);
    return state;
  }
}

/** The first character of each class. No instruction distinguishes two characters of one class. */
export function cutsOf({ instructions }: Program): number[] {
  const cuts = new Set([0]);
  for (const instruction of instructions) {
    if (instruction.kind !== "take") continue;
    for (const [from, to] of pairsOf(instruction.set)) cuts.add(from).add(to + 1);
  }
  cuts.delete(maxUnit + 1);
  return [...cuts].sort((a, b) => a - b);
}

const tooSlow = (): InputInvalid =>
  new InputInvalid("The glob takes too long to match.", {
    advice: "Use fewer wildcards, or name the files.",
  });

/** The time limit is generous, because it uses the wall clock and a busy machine may pause the process. */
export const patternLimits = { maxPatternLength: 500, maxTextLength: 1_000_000, timeoutMs: 1_000 } as const;

let matcher:
  | { readonly script: Script; readonly context: Context & { pattern?: string; texts?: readonly string[] } }
  | undefined;

/**
 * Whether each text matches; undefined if that takes too long. A harmless-looking pattern can run for years on some
 * text, so it runs in a context that can be interrupted. All texts share one run, because an interruptible run is
 * expensive.
 */
export function matchPattern(pattern: string, texts: readonly string[]): readonly boolean[] | undefined {
  const length = texts.reduce((sum, text) => sum + text.length, 0);
  if (pattern.length > patternLimits.maxPatternLength || length > patternLimits.maxTextLength)
    return undefined;
  matcher ??= makeMatcher();
  Object.assign(matcher.context, { pattern, texts });
  try {
    const found: unknown = matcher.script.runInContext(matcher.context, { timeout: patternLimits.timeoutMs });
    return Array.from(String(found), (mark) => mark === "1");
  } catch {
    return undefined;
  }
}

export function patternProblem(pattern: string): string | undefined {
  const { maxPatternLength } = patternLimits;
  if (pattern.length > maxPatternLength) return `must have at most ${maxPatternLength} characters`;
  try {
    void new RegExp(pattern, "u");
    return undefined;
  } catch {
    return "must be a regular expression as JavaScript reads it with the u flag";
  }
}

function makeMatcher(): NonNullable<typeof matcher> {
  const vm = process.getBuiltinModule("node:vm");
  const code =
    "{ const form = new RegExp(pattern, 'u'); let found = ''; for (const text of texts) found += form.test(text) ? 1 : 0; found }";
  return { script: new vm.Script(code), context: vm.createContext(Object.create(null) as object) };
}
