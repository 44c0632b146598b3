import type { Json, JsonObject } from "../../domain/json.ts";

/** The cost of a call. */
export interface ItemUsage {
  readonly inputTokens: number;
  readonly cachedInputTokens: number;
  readonly cacheWriteTokens: number;
  readonly outputTokens: number;
  readonly reasoningTokens: number;
  /** The share of the input that the provider read from its cache, from 0 to 1. Null without input. */
  readonly cacheShare: number | null;
  /** Null if the price is unknown, or if the session copied the call and did not pay for it. */
  readonly costUsd: number | null;
  /** Perhaps billed: the provider reported nothing. */
  readonly estimatedTokens: number;
  readonly estimatedUsd: number;
}

/** Where and when an item belongs. */
export interface ItemPlace {
  readonly phase: string | null;
  readonly persona: string | null;
  readonly round: number | null;
  /** Counted over all rounds of the persona in its phase, from 1. */
  readonly attempt: number | null;
  /** The seq of its row. Null: a lost call has none. */
  readonly seq: number | null;
  readonly at: string;
  readonly ms: number | null;
  readonly usage: ItemUsage | null;
  /** Its text for people, whole. */
  readonly content: string;
}

export interface PromptPart {
  readonly kind: "prompt";
  readonly model: string;
  /** As they were sent. Null: an agent on the command line does not show its prompts. */
  readonly messages: readonly Json[] | null;
  readonly tools: readonly Json[] | null;
  readonly settings: JsonObject | null;
  /** The number of messages at the beginning that the call before sent as well. */
  readonly repeats: number;
}

export interface RequestedCall {
  readonly id: string;
  readonly tool: string;
  readonly arguments: Json;
}

export interface AnswerPart {
  readonly kind: "answer";
  readonly model: string;
  readonly toolCalls: readonly RequestedCall[];
  readonly finishReason: string | null;
  readonly firstTokenMs: number | null;
  /** Why there is no answer. */
  readonly error: string | null;
  /** The process ended during the call: it was perhaps made and billed, and its answer is lost. */
  readonly estimated: boolean;
  /** Copied from the session that this one was forked from, which paid for it. */
  readonly reused: boolean;
}

export interface ToolPart {
  readonly kind: "tool";
  readonly tool: string;
  readonly arguments: Json;
  readonly status: "done" | "failed" | "refused" | "rejected";
  /** The artifact with its whole output, where the model got a part. */
  readonly output: string | null;
}

export interface CheckPart {
  readonly kind: "check";
  readonly check: string;
  readonly status: "passed" | "failed" | "not-run";
  /** One line. */
  readonly message: string;
  readonly must: boolean | "no-worse" | null;
  /** The files that it judged: those of an attempt, those of all personas of the phase, or the first ones. */
  readonly of: "attempt" | "phase" | "baseline";
  /** The artifact with its whole output. */
  readonly output: string | null;
}

export interface HealingPart {
  readonly kind: "healing";
  readonly healer: string;
  readonly outcome: "passed" | "rolled-back" | "kept";
}

/** The act of a person. */
export interface PersonPart {
  readonly kind: "person";
  readonly action: string;
  /** The name of the person, if the person has a token of their own. */
  readonly by?: string;
}

export interface ReasoningPart {
  readonly kind: "reasoning";
}

/** A step of a persona that is a function. */
export interface StepPart {
  readonly kind: "step";
  readonly step: string;
  readonly status: "done" | "failed";
}

/** The end of an attempt: what it submitted, or why it failed. */
export interface EndingPart {
  readonly kind: "ending";
  readonly status: "completed" | "failed";
}

export type TranscriptPart =
  | PromptPart
  | ReasoningPart
  | AnswerPart
  | ToolPart
  | CheckPart
  | HealingPart
  | PersonPart
  | StepPart
  | EndingPart;

/** One item of a session's transcript. All text is without secrets. */
export type TranscriptItem = ItemPlace & TranscriptPart;
