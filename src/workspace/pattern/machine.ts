import { InputInvalid } from "../../domain/errors.ts";
import { includes, maxUnit, pairsOf } from "./characters.ts";
import { compile, type Expression, type Program, reach } from "./expression.ts";

interface State {
  readonly seeds: readonly number[];
  /** The seeds and every instruction reached from them without taking a character. */
  readonly reached: ReadonlySet<number>;
  /** The next state by class of characters; computed at first use. */
  readonly next: (State | undefined)[];
}

/** States are made on demand; a pattern with more transitions than this is made to be slow. */
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
      // Every state is reached from the first, so the first must forget them too.
      this.#first.next.length = 0;
    }
    const state: State = { seeds, reached: reach(this.#program, seeds), next: [] };
    this.#states.set(key, state);
    return state;
  }
}

/** The first character of each class: no instruction tells two characters of one class apart. */
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
