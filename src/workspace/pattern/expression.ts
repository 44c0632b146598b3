import { InputInvalid } from "../../domain/errors.ts";
import type { Characters } from "./characters.ts";

/** What a pattern means, however it was written. */
export type Expression =
  | { readonly kind: "characters"; readonly set: Characters }
  | { readonly kind: "sequence"; readonly parts: readonly Expression[] }
  | { readonly kind: "choice"; readonly options: readonly Expression[] }
  | { readonly kind: "repeat"; readonly what: Expression; readonly least: number; readonly most: number }
  | { readonly kind: "place"; readonly place: Place };

export type Place = "start" | "end" | "word-boundary" | "no-word-boundary";

export const sequence = (...parts: readonly Expression[]): Expression => ({ kind: "sequence", parts });
export const choice = (options: readonly Expression[]): Expression => ({ kind: "choice", options });
export const characters = (set: Characters): Expression => ({ kind: "characters", set });
export const repeat = (what: Expression, least = 0, most = Number.POSITIVE_INFINITY): Expression => ({
  kind: "repeat",
  what,
  least,
  most,
});
export const place = (at: Place): Expression => ({ kind: "place", place: at });

/** One instruction; `next` and `or` say where it goes on. */
export type Instruction =
  | { readonly kind: "take"; readonly set: Characters; readonly next: number }
  | { readonly kind: "split"; next: number; readonly or: number }
  | { readonly kind: "place"; readonly place: Place; readonly next: number }
  | { readonly kind: "found" };

export interface Program {
  readonly instructions: readonly Instruction[];
  readonly start: number;
}

const maxInstructions = 2000;

/** From the end to the beginning, so that each part knows where it goes on. */
export function compile(expression: Expression): Program {
  const instructions: Instruction[] = [{ kind: "found" }];
  // Counts also what leaves no instruction, such as an empty group repeated a thousand times.
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
      case "place":
        return emit({ kind: "place", place: part.place, next });
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

const tooLarge = (): InputInvalid =>
  new InputInvalid("The pattern is too large.", {
    advice: "Use smaller repetitions and fewer alternatives.",
  });
