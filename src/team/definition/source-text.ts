import type { SourcePath } from "./place.ts";

/** Lines and columns count from 1. */
export interface Position {
  readonly line: number;
  readonly column: number;
}

export interface PlacedProblem extends Partial<Position> {
  readonly sentence: string;
}

/** The content of a team file, or the reasons why it is unreadable. */
export type SourceText =
  | {
      readonly kind: "read";
      readonly value: unknown;
      readonly locate: (path: SourcePath, on: "key" | "value") => Position;
    }
  | {
      readonly kind: "broken";
      /** "YAML", "JSON". */
      readonly language: string;
      readonly problems: readonly PlacedProblem[];
      readonly advice?: string;
    };

/** A team nests no deeper, except in the schema of an output, which has its own limit. */
export const maxSourceDepth = 80;
