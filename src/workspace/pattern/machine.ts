import { InputInvalid } from "../../domain/errors.ts";
import { includes, maxUnit, pairsOf, wordCharacters } from "./characters.ts";
import { compile, type Expression, type Place, type Program } from "./expression.ts";

type Kind = "edge" | "word" | "other";

interface State {
  /** Instructions to go on with, besides the beginning, which is tried at each character. */
  readonly seeds: readonly number[];
  /** What stands before; the ends of words depend on it. */
  readonly before: Kind;
  /** Where each class of characters leads; computed when first needed. */
  readonly next: (State | "found" | undefined)[];
}

/** States are made as they are needed; more than this many transitions means a pattern made to be slow. */
const maxTransitions = 20_000;
const maxCells = 1_000_000;

/**
 * Finds a pattern in time proportional to the text, whatever the pattern: there is no backtracking that a model's
 * pattern could drive into hours. It knows whether and where the first match ends, and nothing of groups.
 */
export class PatternMachine {
  readonly #program: Program;
  readonly #classes: Uint16Array;
  /** One character of each class; classes are small numbers. */
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
    this.#first = this.#state([], "edge");
  }

  /** Where the match that ends first ends, or -1. */
  endOfMatch(text: string): number {
    let state = this.#first;
    for (let index = 0; index < text.length; index += 1) {
      const kind = this.#classes[text.charCodeAt(index)] ?? 0;
      const next = state.next[kind] ?? this.#step(state, kind);
      if (next === "found") return index;
      state = next;
    }
    const last = state.next[this.#samples.length] ?? this.#step(state, this.#samples.length);
    return last === "found" ? text.length : -1;
  }

  /** A match is noticed at the character after it, because the end of a word shows only there. */
  #step(state: State, kind: number): State | "found" {
    this.#transitions += 1;
    if (this.#transitions > maxTransitions) throw tooSlow();
    const sample = this.#samples[kind];
    const after = sample === undefined ? "edge" : kindOf(sample);
    const reached = this.#reach(state, after);
    const next = reached === "found" ? reached : this.#state(this.#take(reached, sample), after);
    state.next[kind] = next;
    return next;
  }

  /** The instructions that take a character, reached from the seeds without taking one. */
  #reach({ seeds, before }: State, after: Kind): ReadonlySet<number> | "found" {
    const { instructions, start } = this.#program;
    const reached = new Set<number>();
    const open = [start, ...seeds];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      const instruction = instructions[at];
      if (instruction === undefined || reached.has(at)) continue;
      if (instruction.kind === "found") return "found";
      reached.add(at);
      if (instruction.kind === "split") open.push(instruction.next, instruction.or);
      if (instruction.kind === "place" && isAt(instruction.place, before, after)) open.push(instruction.next);
    }
    return reached;
  }

  #take(reached: ReadonlySet<number>, unit: number | undefined): number[] {
    const seeds = new Set<number>();
    for (const at of reached) {
      const instruction = this.#program.instructions[at];
      if (instruction?.kind !== "take" || unit === undefined) continue;
      if (includes(instruction.set, unit)) seeds.add(instruction.next);
    }
    return [...seeds].sort((a, b) => a - b);
  }

  #state(seeds: readonly number[], before: Kind): State {
    const key = `${before} ${seeds.join()}`;
    const known = this.#states.get(key);
    if (known !== undefined) return known;
    if (this.#states.size * this.#samples.length > maxCells) {
      this.#states.clear();
      // Every state can be reached from the first, so it must forget them as well.
      this.#first.next.length = 0;
    }
    const state: State = { seeds, before, next: [] };
    this.#states.set(key, state);
    return state;
  }
}

/** Where a class of characters begins: no instruction tells two of one class apart. */
export function cutsOf({ instructions }: Program): number[] {
  const cuts = new Set([0]);
  const cut = (set: readonly number[]) => {
    for (const [from, to] of pairsOf(set)) cuts.add(from).add(to + 1);
  };
  cut(wordCharacters);
  for (const instruction of instructions) if (instruction.kind === "take") cut(instruction.set);
  cuts.delete(maxUnit + 1);
  return [...cuts].sort((a, b) => a - b);
}

const kindOf = (unit: number): Kind => (includes(wordCharacters, unit) ? "word" : "other");

function isAt(place: Place, before: Kind, after: Kind): boolean {
  const isBoundary = (before === "word") !== (after === "word");
  switch (place) {
    case "start":
      return before === "edge";
    case "end":
      return after === "edge";
    case "word-boundary":
      return isBoundary;
    case "no-word-boundary":
      return !isBoundary;
  }
}

const tooSlow = (): InputInvalid =>
  new InputInvalid("The pattern takes too long.", {
    advice: "Use smaller repetitions, or search for plain text.",
  });
