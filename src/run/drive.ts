import type { CommandFor } from "../domain/advice.ts";
import type { Clock } from "../domain/clock.ts";
import type { GithubPlace } from "../domain/delivery-order.ts";
import type { RetryPolicies } from "../journal/after-failure.ts";
import type { RunStep } from "../journal/durable-step.ts";
import type { StepKind } from "../journal/journal.ts";
import type { Perform } from "../personas/function.ts";
import type { Blobs } from "../store/blobs.ts";
import type { SessionFiles } from "../store/session-files.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import type { Store } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import type { PersonaDefinition, PhaseDefinition } from "../team/definition/team-definition.ts";
import type { LayerStore } from "../workspace/layers/layer-store.ts";
import type { SandboxRule } from "../workspace/sandbox-kind.ts";
import type { CircuitBreaker } from "./circuit-breaker.ts";
import type { Control } from "./control.ts";
import type { Healer } from "./healing/healer.ts";
import type { PersonaInputs } from "./persona-inputs.ts";
import type { AskModel } from "./planning/classify-with-model.ts";
import type { CommandPlace } from "./programs/command-place.ts";
import type { SandboxChecks } from "./programs/sandbox-checks.ts";
import type { Rest, Waiter } from "./rest.ts";
import type { SetupPlace } from "./setup/run-setup.ts";
import type { LayersFor } from "./setup/session-setups.ts";
import type { Accounts, SessionSpending } from "./spending.ts";
import type { SessionTrees } from "./trees.ts";

/** An open state directory. */
export interface OpenState {
  readonly store: Store;
  readonly artifacts: Blobs;
  readonly stateDirectory: string;
  readonly clock: Clock;
}

/** Shared by all drives of a process. */
export interface EngineSettings extends OpenState {
  readonly accounts: Accounts;
  readonly breaker: CircuitBreaker;
  readonly policies: RetryPolicies;
  /** How long an attempt may make no progress, unless its persona sets another limit. */
  readonly timeoutMs: number;
  readonly healers: readonly Healer[];
  readonly checks: Pick<
    SandboxChecks,
    "judgeFiles" | "run" | "measure" | "isInstalled" | "withExtraFiles" | "withLayers"
  >;
  readonly place: Pick<CommandPlace, "runTool">;
  readonly performOf: (team: Team, model: string | undefined) => PerformOf;
  /** Throws what is missing to call the models of a team from this process. */
  readonly proveModels: (
    team: Pick<Team, "definition" | "phases" | "model">,
    model: string | undefined,
  ) => Promise<unknown>;
  /** For teams that a model plans. */
  readonly askModel: (
    team: Team,
    model: string | undefined,
    call: { readonly runStep: RunStep; readonly signal: AbortSignal },
  ) => AskModel;
  /** Prepared dependencies, shared by all sessions. */
  readonly layers: LayerStore;
  readonly setupPlace: SetupPlace;
  readonly commandFor: CommandFor;
  /** Where pull requests of delivered branches are made. */
  readonly github: GithubPlace;
  readonly sandbox: SandboxRule;
}

export type PerformOf = (phase: PhaseDefinition, persona: PersonaDefinition) => Perform;

/** One claimed session, before its team is planned. */
export interface ClaimedSession extends EngineSettings {
  readonly journal: SessionJournal;
  readonly files: SessionFiles;
  readonly control: Control;
  readonly rest: Rest;
  readonly log: (persona: string, message: string) => void;
  /** Live text of a model or an agent; not recorded. */
  readonly onText: (persona: string, delta: string) => void;
  /** An effect begins; not recorded. */
  readonly onStep?: ((persona: string, step: StepKind, name: string) => void) | undefined;
  readonly onPlanned: (team: Team) => void;
  /** The prepared dependencies of these files. */
  readonly layersFor?: LayersFor;
  /** For each setup, the files that decide what it installs. */
  readonly setupInputs?: readonly (readonly string[])[];
}

/** One drive of one session. It is made once and passed down whole. */
export interface Drive extends ClaimedSession {
  readonly spending: SessionSpending;
}

/** A drive, as the work of one persona sees it. */
export interface PersonaDrive extends Drive {
  readonly waiter: Waiter;
}

/** A drive of a planned team. */
export interface TeamDrive extends Drive {
  readonly team: Team;
  readonly inputs: PersonaInputs;
  readonly trees: SessionTrees;
}
