export { usageCsv } from "./cost/csv.ts";
export type { UsageReport, UsageRow, UsageTotals } from "./cost/reports.ts";
export type { Clock } from "./domain/clock.ts";
export type { CheckResult, GateResult } from "./domain/contract.ts";
export {
  ArtifactCorrupt,
  AttemptTimeout,
  BudgetExceeded,
  CheckpointCorrupt,
  CircuitOpen,
  ConfigInvalid,
  ContractUnfulfilled,
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
export type { Failure, FailureCategory } from "./domain/failure.ts";
export type {
  AttemptSettings,
  FixedImport,
  Healed,
  HealingAction,
  InstalledDependency,
} from "./domain/healing-action.ts";
export type { Decision, ParkReason, PersonaResult, SessionStatus } from "./domain/journal.ts";
export type { Json } from "./domain/json.ts";
export type { Healer, HealingCase, Remedy } from "./execution/healing/healer.ts";
export { durableModel, type OwnModelOptions } from "./execution/own-model.ts";
export type {
  PersonaContext,
  PersonaFunction,
  PersonaReturn,
  TeamContext,
} from "./execution/persona-context.ts";
export type { StepOptions } from "./execution/step-recorder.ts";
export type { Carried } from "./hive/carry.ts";
export type { FilesAt } from "./hive/give-out.ts";
export {
  describeProviders,
  describeSandbox,
  type ProveOptions,
  type ProviderStatus,
  proveCommands,
  proveModels,
  type Sandbox,
} from "./hive/machine.ts";
export type { UsageOptions } from "./hive/reading.ts";
export type { SessionForecast } from "./hive/session-forecast.ts";
export {
  type ApproveOptions,
  type BudgetOptions,
  type ForkOptions,
  type GivenOptions,
  Maestro,
  type OpenOptions,
  open,
  type PlanOptions,
  type RejectOptions,
  type ResumeOptions,
  type Session,
  type StartOptions,
} from "./maestro.ts";
export { type CheckpointInfo, verifyCheckpointFile } from "./state/list-checkpoints.ts";
export type { RetentionPolicy } from "./state/retention.ts";
export type { SessionRecord } from "./state/store.ts";
export { builtInTeam, builtInTeams } from "./team/built-in.ts";
export type { Brief } from "./team/create-session.ts";
export {
  defineTeam,
  type Persona,
  type PersonaOptions,
  type Phase,
  type PhaseNameOf,
  type PhaseOptions,
  persona,
  phase,
  type Team,
  type TeamOptions,
} from "./team/define.ts";
export type {
  BudgetDefinition,
  GateDefinition,
  PersonaDefinition,
  PhaseDefinition,
  PlanDefinition,
  PlanningMode,
  PolicyDefinition,
  TeamDefinition,
  ToolName,
  WorkDefinition,
} from "./team/definition/team-definition.ts";
export type {
  CheckOptions,
  ContractOptions,
  DeliverableOptions,
  PolicyOptions,
} from "./team/definition/written.ts";
export type { SessionEvent } from "./team/event.ts";
export { loadTeam } from "./team/load-team.ts";
export type { PhaseEdit } from "./team/phase-edit.ts";
export type { PlannedPersona } from "./team/plan.ts";
export type { Plan } from "./team/plan-cost.ts";
export type { Classification } from "./team/planning/classification.ts";
export type {
  BudgetView,
  PersonaView,
  PhaseView,
  SessionResult,
  SessionView,
  TicketView,
} from "./team/session-view.ts";
export type { OutResult } from "./workspace/out-result.ts";
