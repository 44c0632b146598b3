import type { Budget, BudgetChange } from "../domain/budget.ts";
import type { GateResult } from "../domain/contract.ts";
import type { ErrorJson } from "../domain/error-json.ts";
import type { Json } from "../domain/json.ts";
import { type Exhausted, needsYouText } from "./exhausted.ts";
import type { StopRequest } from "./signal.ts";
import type { PauseCause } from "./standing.ts";
import type { WaitingKind } from "./waiting-call.ts";

export type CardPhaseStatus = "pending" | "running" | "failed" | "completed" | "reused";

export interface CardPhase {
  readonly name: string;
  readonly status: CardPhaseStatus;
  readonly gate?: GateResult;
  /** A persona worked in it: completed, not reused. */
  readonly worked?: true;
  /** The files that it began with. */
  readonly base?: string;
}

/** Why a persona waits, and its earliest end. */
export interface CardHold {
  readonly phase: string;
  readonly persona: string;
  readonly until: number;
  readonly why:
    | { readonly kind: "retry"; readonly because: string }
    | {
        readonly kind: "dependency";
        readonly dependency: string;
        /** The exhausted limit of the provider's minute. Missing: a breaker is open, or a provider said to wait. */
        readonly limit?: "requests" | "tokens";
      };
}

/** A call that waits for a person. */
export interface CardCall {
  readonly seq: number;
  readonly asks: WaitingKind;
  readonly phase: string;
  readonly persona: string;
  /** The call or question, shortened. */
  readonly text: string;
}

/** A persona that gets no other attempt. */
export interface CardExhausted {
  readonly phase: string;
  readonly persona: string;
  readonly next: Exhausted;
}

/** The bounded summary of a session for lists: a projection of its journal, updated with each row that changes it. */
export interface SessionCard {
  readonly brief: string;
  /** The person who started it. */
  readonly owner: string | null;
  readonly model: string | null;
  readonly fork: { readonly session: string; readonly at: string } | null;
  /** Imported and not trusted by a person yet, so it does not run. */
  readonly isUntrusted: boolean;
  /** Only the program that defines the team can resume it. */
  readonly needsProgram: boolean;
  /** Its first phases, in the team's order. */
  readonly phases: readonly CardPhase[];
  readonly phaseCount: number;
  /** The last completed phase. */
  readonly lastPhase: string | null;
  readonly checkpoints: number;
  /** How often a person resumed it. */
  readonly resumes: number;
  readonly direction: { readonly only: boolean; readonly until: boolean; readonly pauseAfter: boolean };
  /** Why it is paused, if it is. */
  readonly pausedBy: PauseCause | null;
  /** The phase that waits for review. `base` and `tree`: its initial and final files. */
  readonly review: {
    readonly phase: string;
    readonly gate?: GateResult;
    readonly base?: string;
    readonly tree?: string;
  } | null;
  /** Why it stopped. */
  readonly error: CardError | null;
  readonly wakeAt: number | null;
  /** A person asked a running session to stop. */
  readonly stopping: StopRequest | null;
  readonly held: readonly CardHold[];
  readonly calls: readonly CardCall[];
  /** Personas that get no other attempt. Empty once the session has stopped for them. */
  readonly exhausted: readonly CardExhausted[];
  readonly lastFailure: {
    readonly phase: string;
    readonly persona: string;
    readonly check: string | null;
  } | null;
  /** The budget of the whole session: its team's limit with people's changes. */
  readonly limit: Budget;
  readonly raised: BudgetChange;
}

export interface CardError {
  readonly code: string;
  readonly message: string;
  /** Numbers and short texts only. */
  readonly details: Readonly<Record<string, string | number>>;
}

export const cardLimits = {
  phases: 40,
  held: 20,
  exhausted: 50,
  textLength: 200,
  messageLength: 500,
  details: 20,
} as const;

export const cut = (text: string, length: number): string =>
  text.length <= length ? text : text.slice(0, length).toWellFormed();

/** Details of errors can be long lists, which a line of a list does not show. */
export function cardError({ code, message, details }: ErrorJson): CardError {
  const kept = Object.entries(details ?? {})
    .filter((entry): entry is [string, string | number] => isShort(entry[1]))
    .slice(0, cardLimits.details)
    .map(([name, value]) => [name, typeof value === "string" ? cut(value, cardLimits.messageLength) : value]);
  return {
    code: String(code ?? "UNEXPECTED"),
    message: cut(message, cardLimits.messageLength),
    details: Object.fromEntries(kept) as CardError["details"],
  };
}

const isShort = (value: Json): boolean => typeof value === "string" || typeof value === "number";

/** The end of the last hold; undefined if no persona waits. */
export function heldUntil({ held }: SessionCard): number | undefined {
  return held.length === 0 ? undefined : Math.max(...held.map(({ until }) => until));
}

/** The dependencies whose breakers the session waits for, parked or resting. Resetting one makes it due. */
export function waitsFor({ error, wakeAt, held }: SessionCard): readonly string[] {
  const parkedFor = wakeAt === null ? undefined : error?.details["dependency"];
  const heldFor = held.flatMap(({ why }) => (why.kind === "dependency" ? [why.dependency] : []));
  return [...new Set(typeof parkedFor === "string" ? [parkedFor, ...heldFor] : heldFor)];
}

export function changeCardPhase(
  { phases }: SessionCard,
  name: string,
  change: Partial<CardPhase>,
): readonly CardPhase[] {
  return phases.map((phase) => (phase.name === name ? { ...phase, ...change } : phase));
}

export function withoutHold(
  { held }: SessionCard,
  { phase, persona }: { readonly phase: string; readonly persona: string },
): readonly CardHold[] {
  return held.filter((hold) => hold.phase !== phase || hold.persona !== persona);
}

export const withoutExhausted = (
  { exhausted }: SessionCard,
  { phase, persona }: { readonly phase: string; readonly persona?: string },
): readonly CardExhausted[] =>
  exhausted.filter((each) => each.phase !== phase || (persona !== undefined && each.persona !== persona));

export const withoutCall = ({ calls }: SessionCard, ...seqs: readonly number[]): readonly CardCall[] =>
  calls.filter(({ seq }) => !seqs.includes(seq));

/** The persona's attempt has ended, so it waits for nothing. */
export const withoutCalls = (
  { calls }: SessionCard,
  { phase, persona }: { readonly phase: string; readonly persona: string },
): readonly CardCall[] => calls.filter((call) => call.phase !== phase || call.persona !== persona);

export const needsYouHeadline = (exhausted: SessionCard["exhausted"]): string | null =>
  needsYouText(exhausted, { more: exhausted.length === cardLimits.exhausted });
