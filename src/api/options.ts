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
  /** Limits of the whole session, including its resumes. */
  readonly budget?: { readonly tokens?: number; readonly usd?: number };
  /** Awaited after the session is created and before it is driven. */
  readonly beforeDrive?: (id: SessionId) => Promise<void>;
  /** Images and texts that belong to the brief. Default with the key of an existing session: its own. */
  readonly attachments?: readonly (AttachmentContent | UploadedAttachment)[];
  /** The repository to work on. */
  readonly source?: SourceOptions;
  /** The id of an upload to work on, instead of a repository. */
  readonly upload?: string;
  /** How a completed session is delivered, also by a later resume. Adds to the team's `deliver`. */
  readonly deliver?: DeliveryOrder;
  /** Existing outputs of phases. */
  readonly given?: Readonly<Partial<Record<PhaseName, GivenOptions>>>;
}

/** Options of a start. Another process may drive the session. */
export type QueueOptions<PhaseName extends string = string> = Omit<
  StartOptions<PhaseName>,
  "beforeDrive" | "deliver"
>;

/** Options of a start without a direction, which is set when the session is driven. */
export type CreateOptions<PhaseName extends string = string> = Pick<
  StartOptions<PhaseName>,
  keyof Brief | "attachments" | "given" | "budget" | "source" | "upload" | "deliver"
>;

export interface MixedOptions {
  readonly pauseAfter: readonly string[];
}

export interface GivenOptions extends PhaseEdit {
  /** A note for people about its origin. */
  readonly origin?: string;
}

export interface ResumeOptions {
  readonly team?: Team;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** Accept a changed team. Unchanged personas keep their results. */
  readonly acceptChanges?: boolean;
  /** For the next attempts of the phases that are unfinished. */
  readonly note?: string;
  /** A person has seen the demands of an imported session and allows it to run. */
  readonly trust?: boolean;
}

/** Options of a resume, optionally for some of the phases. */
export interface PlanOptions extends Omit<ResumeOptions, "trust"> {
  readonly direction?: Direction;
}

export interface ForkOptions {
  /** The first phase that runs again. */
  readonly at: string;
  readonly edits?: Readonly<Record<string, PhaseEdit>>;
  /** Reuse no recorded work of the phases that run again. */
  readonly fresh?: boolean;
  /** Effects that already happened in the rerun phases may happen again. */
  readonly repeatEffects?: boolean;
  readonly team?: Team;
  readonly model?: string;
  readonly key?: string;
  /** The budget of the new session. Default: the budget of its parent. */
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
  /** The row of a call that waits for approval. Replaces `phase`. */
  readonly call?: number;
  /** Arguments of the call. Default: those that the persona gave. */
  readonly arguments?: JsonObject;
  readonly note?: string;
}

export interface RejectOptions extends Omit<ApproveOptions, "arguments"> {
  /** The requested change. For a rejected call, its result. */
  readonly note: string;
  /** Effects of the phase that already happened may happen again. */
  readonly repeatEffects?: boolean;
}

/** How an effect ended. `result` becomes the result of its step. */
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
  /** The repository to make it in. Default: the session's own. */
  readonly repo?: string;
  /** The name of a remote to push it to. */
  readonly push?: string;
  /** Open a pull request on GitHub for it. */
  readonly pullRequest?: boolean;
}

export interface DeliveredBranch {
  readonly branch: string;
  readonly commits: readonly string[];
  /** The remote that the branch was pushed to. */
  readonly remote: string | null;
  readonly pullRequest: TicketView | null;
}
