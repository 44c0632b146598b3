import type { Transition } from "./events.ts";
import type { StepRow } from "./row.ts";

export type { Delivered } from "./delivered.ts";
export type { Transition } from "./events.ts";
export type { PersonaChecks } from "./judgment-values.ts";
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
export type { RepositorySource, Source, UploadSource } from "./source.ts";
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
  PersonaResult,
  PersonaSpent,
  PhaseContent,
  RecordedFailure,
  SessionTerms,
  SessionUsage,
  Wait,
} from "./values.ts";

export type Entry = Transition | StepRow;
