import type { DeliveryOrder } from "../domain/delivery-order.ts";
import type { SessionId } from "../domain/ids.ts";
import type { Json, JsonObject } from "../domain/json.ts";
import type { Direction } from "../journal/journal.ts";
import type { SessionResult, TicketView } from "../journal/view.ts";
import type { AttachmentContent, UploadedAttachment } from "../run/acts/attach.ts";
import type { Brief } from "../run/acts/create-session.ts";
import type { PhaseEdit } from "../run/acts/phase-edit.ts";
import type { SourceOptions } from "../run/acts/read-source.ts";
import type { UsageQuery } from "../store/reports.ts";
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
  /** Of the whole session, including its resumes. */
  readonly budget?: { readonly tokens?: number; readonly usd?: number };
  /** Awaited after the session is created and before it is driven. */
  readonly beforeDrive?: (id: SessionId) => Promise<void>;
  /** Images and texts that belong to the brief. With the key of an existing session: its own, unless given. */
  readonly attachments?: readonly (AttachmentContent | UploadedAttachment)[];
  /** The repository that it works on. */
  readonly source?: SourceOptions;
  /** The id of an upload whose files it works on, instead of a repository. */
  readonly upload?: string;
  /** How it is delivered when it is completed, also by a later resume; besides the team's `deliver`. */
  readonly deliver?: DeliveryOrder;
  /** Existing outputs of phases. */
  readonly given?: Readonly<Partial<Record<PhaseName, GivenOptions>>>;
}

/** As a start, but another process may drive the session. */
export type QueueOptions<PhaseName extends string = string> = Omit<
  StartOptions<PhaseName>,
  "beforeDrive" | "deliver"
>;

/** As a start without a direction: that is set when the session is driven. */
export type CreateOptions<PhaseName extends string = string> = Pick<
  StartOptions<PhaseName>,
  keyof Brief | "attachments" | "given" | "budget" | "source" | "upload" | "deliver"
>;

export interface MixedOptions {
  readonly pauseAfter: readonly string[];
}

export interface GivenOptions extends PhaseEdit {
  /** A note for people on where it comes from. */
  readonly origin?: string;
}

export interface ResumeOptions {
  readonly team?: Team;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** Accept a changed team. Unchanged personas keep their results. */
  readonly acceptChanges?: boolean;
  /** A person has seen what an imported session would run, read and send, and lets it. */
  readonly trust?: boolean;
}

/** As a resume, optionally of a part of the phases. */
export interface PlanOptions extends Omit<ResumeOptions, "trust"> {
  readonly direction?: Direction;
}

export interface ForkOptions {
  /** The first phase that runs again. */
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** Reuse no recorded work of the phases that run again. */
  readonly fresh?: boolean;
  /** Effects that happened in phases that run again may happen again. */
  readonly repeatEffects?: boolean;
  readonly team?: Team;
  readonly model?: string;
  readonly key?: string;
  /** Of the new session. Default: the budget of its parent. */
  readonly budget?: Pick<BudgetOptions, "tokens" | "usd">;
}

export interface UsageOptions extends Omit<UsageQuery, "sessions"> {
  /** Id or key. */
  readonly session?: string | undefined;
}

export interface PruneOptions extends RetentionPolicy {
  /** Remove only this session, whose journal is damaged. */
  readonly damaged?: string;
}

export interface ApproveOptions {
  /** Required when more than one phase waits for review. */
  readonly phase?: string;
  /** The row of a call that waits for approval, instead of a phase. */
  readonly call?: number;
  /** Of the call, instead of those that the persona gave. */
  readonly arguments?: JsonObject;
  readonly note?: string;
}

export interface RejectOptions extends Omit<ApproveOptions, "arguments"> {
  /** The requested change. Of a call: its result. */
  readonly note: string;
  /** Effects of the phase that happened may happen again. */
  readonly repeatEffects?: boolean;
}

/** How an effect ended. `result`: what its step gives. */
export type Settlement = { readonly happened: true; readonly result?: Json } | { readonly happened: false };

export interface BudgetOptions {
  readonly persona?: string;
  readonly phase?: string;
  /** Null removes the limit. */
  readonly tokens?: number | null;
  readonly usd?: number | null;
}

export interface BranchOptions {
  readonly branch: string;
  /** Where to make it; the session's own repository unless given. */
  readonly repo?: string;
  /** The name of a remote to push it to. */
  readonly push?: string;
  /** Open a pull request on GitHub for it. */
  readonly pullRequest?: boolean;
}

export interface DeliveredBranch {
  readonly branch: string;
  readonly commits: readonly string[];
  /** The remote that has it. */
  readonly remote: string | null;
  readonly pullRequest: TicketView | null;
}
