export type { Clock } from "./domain/clock.ts";
export {
  ArtifactCorrupt,
  AttemptTimeout,
  BudgetExceeded,
  CheckpointCorrupt,
  CircuitOpen,
  ConfigInvalid,
  GovernanceViolation,
  HelpNeeded,
  InputInvalid,
  Interrupted,
  JournalCorrupt,
  LeaseHeld,
  LeaseLost,
  MaestroError,
  RecoverableError,
  SessionCanceled,
  SessionConflict,
  SessionFailed,
  SessionNotFound,
  StateCorrupt,
  StateTooNew,
  StateUnavailable,
  StorageFailed,
  TeamChanged,
  TeamInvalid,
  UnrecoverableError,
} from "./domain/errors.ts";
export type { ParkReason, PersonaResult, SessionStatus } from "./domain/journal.ts";
export type { Json } from "./domain/json.ts";
export type {
  PersonaContext,
  PersonaFunction,
  PersonaReturn,
  TeamContext,
} from "./execution/persona-context.ts";
export type { StepOptions } from "./execution/step-recorder.ts";
export { Maestro, type OpenOptions, open, type Session } from "./maestro.ts";
export { type CheckpointInfo, verifyCheckpointFile } from "./state/list-checkpoints.ts";
export type { RetentionPolicy } from "./state/retention.ts";
export type { SessionRecord } from "./state/store.ts";
export {
  defineTeam,
  type Persona,
  type PersonaOptions,
  type Phase,
  type PhaseOptions,
  persona,
  phase,
  type Team,
} from "./team/define.ts";
export type { Brief } from "./team/engine.ts";
export type { SessionEvent } from "./team/event.ts";
export { loadTeam } from "./team/load-team.ts";
export type { SessionResult, SessionView } from "./team/session-view.ts";
