export { describeAgents, type InstalledAgent } from "./api/describe-agents.ts";
export { type DurableOptions, durable } from "./api/durable.ts";
export type { Carried, Imported, ImportOptions } from "./api/export-import.ts";
export {
  adviseSandbox,
  describeClones,
  describeLayers,
  describeProviders,
  describeSandbox,
  hasControlGroups,
  type ProvedTeam,
  type ProveOptions,
  type ProviderStatus,
  proveCommands,
  proveModels,
  proveSandbox,
  type Sandbox,
  type SandboxRule,
} from "./api/machine.ts";
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
} from "./api/open.ts";
export type { Settlement, UsageOptions } from "./api/options.ts";
export type { SessionForecast } from "./api/session-forecast.ts";
export type { FilesAt, OutResult } from "./api/write-files.ts";
export { usageCsv } from "./cost/csv.ts";
export type { UsageReport } from "./cost/reports.ts";
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
  DidNotHappen,
  EffectUnknown,
  GovernanceViolation,
  HelpNeeded,
  InputInvalid,
  Interrupted,
  JournalCorrupt,
  LeaseHeld,
  LeaseLost,
  MaestroError,
  NotTrusted,
  PersonaCrashed,
  RecoverableError,
  SandboxUnavailable,
  SessionCanceled,
  SessionConflict,
  SessionFailed,
  SessionNotFound,
  SetupFailed,
  StateCorrupt,
  StateRemoved,
  StateTooNew,
  StateUnavailable,
  StorageFailed,
  StrayError,
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
export type { Json } from "./domain/json.ts";
export type { ProtectedChange } from "./domain/put-back.ts";
export type { UsageRow, UsageTotals } from "./domain/usage-totals.ts";
export type { Probed } from "./journal/durable-step.ts";
export type { Decision, PersonaResult } from "./journal/journal.ts";
export type { SessionEvent } from "./journal/public-fact.ts";
export type { ParkReason, SessionStatus } from "./journal/standing.ts";
export type {
  BudgetView,
  PersonaView,
  PhaseView,
  SessionResult,
  SessionView,
  TicketView,
} from "./journal/view.ts";
export type {
  PersonaContext,
  PersonaFunction,
  PersonaReturn,
  StepOptions,
  TeamContext,
} from "./personas/function.ts";
export type { LanguageModelObject } from "./personas/model/model-object.ts";
export type { ContextTool, ContextTools } from "./personas/tools/context-tool.ts";
export type { OwnTool, OwnToolOptions } from "./personas/tools/own-tool.ts";
export type { ToolName } from "./personas/tools/tool-table.ts";
export type { AttachmentContent, UploadedAttachment } from "./run/acts/attach.ts";
export type { Brief } from "./run/acts/create-session.ts";
export type { PhaseEdit } from "./run/acts/phase-edit.ts";
export type { PlannedPersona } from "./run/acts/plan.ts";
export type { Plan } from "./run/acts/plan-cost.ts";
export type { SourceOptions } from "./run/acts/read-source.ts";
export {
  type DurableModel,
  durableModel,
  type OwnModelOptions,
} from "./run/durable-model-api.ts";
export type { Healer, HealingCase, Remedy } from "./run/healing/healer.ts";
export type { Classification } from "./run/planning/classification.ts";
export { claimStrayError } from "./run/stray-errors.ts";
export { type CheckpointInfo, verifyCheckpointFile } from "./store/list-checkpoints.ts";
export type { RestoredWork } from "./store/restore-newer.ts";
export type { RetentionPolicy } from "./store/retention.ts";
export type { SessionRecord } from "./store/store.ts";
export { builtInTeam, builtInTeams } from "./team/built-in.ts";
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
  WorkDefinition,
} from "./team/definition/team-definition.ts";
export type {
  CheckOptions,
  ContractOptions,
  DeliverableOptions,
  PolicyOptions,
} from "./team/definition/written.ts";
export type { Demand, DemandKind } from "./team/demands.ts";
export { loadTeam } from "./team/load-team.ts";
