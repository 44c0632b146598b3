import type { ChangedFile, CheckResult, PersonaView } from "./types-session.ts";

/** server adds: `GET /v1/sessions/:id/phases/:phase/personas/:persona` */
export interface PersonaDetail {
  readonly phase: string;
  readonly persona: PersonaView;
  readonly model: string | null;
  readonly limitUsd: number | null;
  readonly limitTokens: number | null;
  readonly reservedUsd: number | null;
  readonly instructions: string;
  /** The prompt of the last attempt's first call, as sent; null before it was made. */
  readonly prompt: string | null;
  readonly contract: {
    readonly deliverables: readonly { readonly name: string; readonly files: readonly string[] }[];
    readonly checks: readonly {
      readonly name: string;
      readonly run: readonly string[];
      readonly must: boolean;
      readonly weight: number;
    }[];
    readonly outputs: unknown;
    readonly consumes: readonly string[] | null;
  };
  /** Of the newest judged attempt. */
  readonly checks: readonly CheckResult[];
  /** What the newest attempt changed. */
  readonly files: readonly ChangedFile[];
}

/**
 * server adds: `GET /v1/sessions/:id/phases/:phase/personas/:persona/steps?round=&attempt=&before=&limit=`:
 * the steps before `before` (a seq; without it the newest), oldest first, at most `limit` (default 60, most 500).
 */
export interface StepsPage {
  readonly steps: readonly StepBlock[];
  /** Recorded steps of this attempt before the first one here. */
  readonly earlier: number;
}

/** A recorded step as a person reads it. Everything in it is text from outside: never markup. */
export type StepBlock =
  | { readonly kind: "text"; readonly seq: number; readonly at: string; readonly text: string }
  | {
      readonly kind: "tool";
      readonly seq: number;
      readonly at: string;
      readonly tool: string;
      readonly target: string;
      /** "38 files", "214 lines", "passed 41 of 41, 8.4 s" */
      readonly outcome: string;
      readonly status: "running" | "passed" | "failed";
      /** What the tool printed, bounded; null where there is nothing to show. */
      readonly output: string | null;
    }
  | {
      readonly kind: "edit";
      readonly seq: number;
      readonly at: string;
      readonly tool: string;
      readonly path: string;
      readonly addedLines: number;
      readonly removedLines: number;
      readonly lines: readonly DiffLine[];
    }
  /** The driver changed here; the steps before it were replayed from the journal. */
  | {
      readonly kind: "restart";
      readonly seq: number;
      readonly at: string;
      readonly replayed: number;
      readonly paidAgain: number;
    };

export interface DiffLine {
  readonly sign: " " | "+" | "-";
  /** In the new file; for removed lines in the old one. */
  readonly number: number;
  readonly text: string;
}
