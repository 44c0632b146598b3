import type { SessionId } from "../domain/ids.ts";
import type { Direction } from "../journal/journal.ts";
import type { SessionResult } from "../journal/view.ts";
import type { Brief } from "../run/create-session.ts";
import type { PhaseEdit } from "../run/phase-edit.ts";
import type { RetentionPolicy } from "../store/retention.ts";
import type { Team } from "../team/define.ts";

export interface Session {
  readonly id: SessionId;
  /** How the drive ended. Parked, paused and canceled are answers, not errors. */
  result(): Promise<SessionResult>;
}

export interface StartOptions<PhaseName extends string = string> extends Brief {
  readonly only?: readonly PhaseName[];
  readonly from?: PhaseName;
  readonly until?: PhaseName;
  readonly pauseAfter?: readonly PhaseName[];
  /** Of the whole session, over all its resumes. */
  readonly budget?: { readonly tokens?: number; readonly usd?: number };
  /** Waited for once the session exists, and before it is driven. */
  readonly beforeDrive?: (id: SessionId) => Promise<void>;
  /** Phases that were done elsewhere. */
  readonly given?: Readonly<Partial<Record<PhaseName, GivenOptions>>>;
}

/** Whoever takes it up does so elsewhere. */
export type QueueOptions<PhaseName extends string = string> = Omit<StartOptions<PhaseName>, "beforeDrive">;

/** How far it goes is said when it is driven. */
export type CreateOptions<PhaseName extends string = string> = Pick<
  StartOptions<PhaseName>,
  keyof Brief | "given" | "budget"
>;

export interface MixedOptions {
  readonly pauseAfter: readonly string[];
}

export interface GivenOptions extends PhaseEdit {
  /** Where it comes from, for people. */
  readonly origin?: string;
}

export interface ResumeOptions {
  readonly team?: Team;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** The team has changed since: personas that did not keep their results. */
  readonly acceptChanges?: boolean;
}

/** As a resume, perhaps of a part only. */
export interface PlanOptions extends ResumeOptions {
  readonly direction?: Direction;
}

export interface ForkOptions {
  /** The first phase that runs again. */
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** Reuse nothing of what runs again. */
  readonly fresh?: boolean;
  readonly team?: Team;
  readonly model?: string;
  readonly key?: string;
  /** Of the new session; what its parent was allowed, unless said. */
  readonly budget?: Pick<BudgetOptions, "tokens" | "usd">;
}

export interface PruneOptions extends RetentionPolicy {
  /** Instead, only this session, whose journal is damaged. */
  readonly damaged?: string;
}

export interface ApproveOptions {
  /** Needed when more than one waits for review. */
  readonly phase?: string;
  readonly note?: string;
}

export interface RejectOptions extends ApproveOptions {
  /** What should be different. */
  readonly note: string;
}

export interface BudgetOptions {
  readonly persona?: string;
  readonly phase?: string;
  /** Null: no limit any more. */
  readonly tokens?: number | null;
  readonly usd?: number | null;
}
