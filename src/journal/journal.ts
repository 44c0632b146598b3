import type { Transition } from "./events.ts";
import type { StepRow } from "./row.ts";

export type { Transition } from "./events.ts";
export {
  copiedEpoch,
  isCopied,
  type RecordedRow,
  type SentCall,
  type StepKind,
  type StepOutcome,
  type StepRow,
} from "./row.ts";
export type { Signal } from "./signal.ts";
export type {
  AfterFailure,
  ClaimCause,
  Decision,
  Direction,
  FilesEdit,
  ForkOrigin,
  GivenPhase,
  JournalHead,
  OfAttempt,
  PaidAmount,
  PersonaChecks,
  PersonaResult,
  PersonaSpent,
  PhaseContent,
  RecordedFailure,
  RepositorySource,
  SessionTerms,
  SessionUsage,
  Source,
  UploadSource,
  Wait,
} from "./values.ts";

export type Entry = Transition | StepRow;
