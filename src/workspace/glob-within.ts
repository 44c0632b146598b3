import { parseGlob } from "./glob.ts";
import { includes } from "./pattern/characters.ts";
import { compile, type Program, reach } from "./pattern/expression.ts";
import { cutsOf } from "./pattern/machine.ts";

/** More pairs of states than any sensible glob needs; beyond them the answer is no. */
const maxPairs = 1_000;

/** The instructions reached by a text, without splits. */
type Reached = readonly number[];

/**
 * Whether every path that `inner` matches is matched by `outer` too, and there is such a path. Both are followed over all
 * texts at once: exact, without trying paths.
 */
export function isWithin(inner: string, outer: string): boolean {
  const [narrow, wide] = [new Walker(inner), new Walker(outer)];
  // No instruction of either tells two characters between the same cuts apart.
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
