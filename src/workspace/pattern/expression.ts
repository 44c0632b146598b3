import { InputInvalid } from "../../domain/errors.ts";
import type { Characters } from "./characters.ts";

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
export type Instruction =
  | { readonly kind: "take"; readonly set: Characters; readonly next: number }
  | { readonly kind: "split"; next: number; readonly or: number }
  | { readonly kind: "found" };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

const maxInstructions = 2000;

/** Compiles from the end to the beginning, so that each part knows the instruction that follows it. */
export function compile(expression: Expression): Program {
  const instructions: Instruction[] = [{ kind: "found" }];
  // An empty group repeated a thousand times leaves no instruction, but takes time.
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

/** The seeds and every instruction reached from them without taking a character. */
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
