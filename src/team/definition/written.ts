import type { Json } from "../../domain/json.ts";
import type { PersonaFunction } from "../../execution/persona-context.ts";
import type { BudgetDefinition, PlanningMode, ToolName } from "./team-definition.ts";

// A team as people write it. YAML and JSON have the same keys, without `run`, and name their personas in a map.

export interface DeliverableOptions {
  readonly name: string;
  /** Globs; each must match at least one file. */
  readonly files: readonly string[];
  /** Default true: fails the attempt; false only lowers the gate's score. */
  readonly must?: boolean;
  /** Default 1. */
  readonly weight?: number;
}

export interface CheckOptions {
  readonly name: string;
  /** Program and arguments; there is no shell. */
  readonly run: readonly string[];
  readonly must?: boolean;
  readonly weight?: number;
  readonly timeoutMs?: number;
}

export interface ContractOptions {
  /** A glob alone is a deliverable of that name. */
  readonly deliverables?: readonly (string | DeliverableOptions)[];
  /** JSON Schema of the persona's `outputs`. */
  readonly outputs?: Readonly<Record<string, Json>>;
  readonly checks?: readonly CheckOptions[];
}

export interface PolicyOptions {
  /** Globs of the files it may write. */
  readonly write?: readonly string[];
  /** Checks of its contract that it may run by itself. */
  readonly checks?: readonly string[];
  readonly tools?: readonly ToolName[];
}

interface CommonOptions {
  /** Reads only what these personas made; default: everything so far. */
  readonly consumes?: readonly string[];
  readonly contract?: ContractOptions;
  readonly budget?: BudgetDefinition;
  /** The "give up" threshold: attempts a round; the configuration's by default. */
  readonly maxAttempts?: number;
  /** How long an attempt may stand still before it is ended; the configuration's by default. */
  readonly timeoutMs?: number;
  /** Default on: failures that can be mended without a new attempt are. */
  readonly healing?: boolean | "on" | "off";
  readonly policy?: PolicyOptions;
}

interface ModelKeys {
  readonly model?: string;
  readonly fallbackModels?: readonly string[];
  /** Short for `policy.tools`. */
  readonly tools?: readonly ToolName[];
  readonly maxSteps?: number;
  /** How long one conversation may take; default four hours. */
  readonly maxTimeMs?: number;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
}

interface CommandKeys {
  /** What one run may cost at most; needed under a budget. */
  readonly reserve?: BudgetDefinition;
  /** Default true: an agent's own model is on the network. */
  readonly network?: boolean;
  /** Names of environment variables to pass through. */
  readonly env?: readonly string[];
  /** Files and folders outside of the workspace that it may read: absolute, or `~/...`, found in its own home. */
  readonly readable?: readonly string[];
  /** And those it may also change. */
  readonly writable?: readonly string[];
}

type Without<Keys> = { readonly [Key in keyof Keys]?: never };

/** The persona's work, as code. */
export interface FunctionPersonaOptions extends CommonOptions, Without<ModelKeys>, Without<CommandKeys> {
  readonly run: PersonaFunction;
  readonly instructions?: never;
  readonly command?: never;
}

/** A model with tools. */
export interface ModelPersonaOptions extends CommonOptions, ModelKeys, Without<CommandKeys> {
  readonly instructions: string;
  readonly run?: never;
  readonly command?: never;
}

/** A command-line agent. */
export interface CommandPersonaOptions extends CommonOptions, CommandKeys, Without<ModelKeys> {
  readonly command: readonly string[];
  readonly instructions?: string;
  readonly run?: never;
}

/** A persona's work is one of three kinds; keys of another kind do not compile. */
export type PersonaOptions = FunctionPersonaOptions | ModelPersonaOptions | CommandPersonaOptions;

export type Persona = PersonaOptions & { readonly name: string };

export interface PhaseOptions<DependsOn extends string = string> {
  readonly personas: readonly Persona[];
  /** Default: the phase before; `[]` waits for none. */
  readonly dependsOn?: readonly DependsOn[];
  /** Share of the checks' weight that must pass, from 0 to 1. */
  readonly gate?: number | { readonly threshold: number; readonly onFail?: "review" | "warn" };
  /** Park for review after it. */
  readonly review?: boolean;
  readonly budget?: BudgetDefinition;
}

export interface Phase<Name extends string = string, DependsOn extends string = string>
  extends PhaseOptions<DependsOn> {
  readonly name: Name;
}

export interface TeamOptions<PhaseName extends string, DependsOn extends string = string> {
  readonly description?: string;
  /** `provider/model`, or `simulated`. */
  readonly model?: string;
  /** How many personas of a group work at once; default 4. */
  readonly parallel?: number;
  readonly budget?: BudgetDefinition;
  /** Default off. Otherwise each session gets the part of the team that its brief needs. */
  readonly planning?: PlanningMode | "off";
  readonly phases: readonly Phase<PhaseName, DependsOn>[];
}

/** Makes a wrong name in `dependsOn` a compile error, at its place; names that only run time knows pass. */
export type KnownPhases<PhaseName extends string, DependsOn extends string> = string extends DependsOn
  ? unknown
  : [DependsOn] extends [PhaseName]
    ? unknown
    : { readonly phases: readonly Phase<NoInfer<PhaseName>, NoInfer<PhaseName>>[] };
