import type { PersonaFunction } from "../../personas/function.ts";
import type { Options } from "./fields.ts";
import type {
  agentKeys,
  checkSection,
  commandKeys,
  contractSection,
  deliverableSection,
  guidanceKeys,
  personaKeys,
  phaseSection,
  policySection,
  teamSection,
  toolKeys,
  workKeys,
} from "./team-keys.ts";

// A team as code writes it. YAML and JSON have the same keys, except `run`, and name their personas in a map.

export type DeliverableOptions = Options<typeof deliverableSection.keys>;
export type CheckOptions = Options<typeof checkSection.keys>;
export type ContractOptions = Options<typeof contractSection.keys>;
export type PolicyOptions = Options<typeof policySection.keys>;

type CommonOptions = Options<typeof personaKeys>;
type ToolOptions = Options<typeof toolKeys>;
type GuidanceOptions = Options<typeof guidanceKeys>;
type ModelOptions = Options<typeof workKeys.model>;
type CommandOptions = Options<typeof commandKeys>;
type AgentOptions = Options<typeof agentKeys>;

type Without<Keys> = { readonly [Key in keyof Keys]?: never };

/** The persona's work is code. */
export interface FunctionPersonaOptions
  extends CommonOptions,
    ToolOptions,
    Without<GuidanceOptions>,
    Without<ModelOptions>,
    Without<AgentOptions>,
    Without<CommandOptions> {
  readonly run: PersonaFunction;
  readonly instructions?: never;
  readonly command?: never;
}

/** The persona's work is done by a model with tools. */
export interface ModelPersonaOptions
  extends CommonOptions,
    ToolOptions,
    GuidanceOptions,
    ModelOptions,
    Without<AgentOptions>,
    Without<CommandOptions> {
  readonly instructions: string;
  readonly run?: never;
  readonly command?: never;
}

/** The persona's work is done by a command-line agent. */
export interface CommandPersonaOptions
  extends CommonOptions,
    CommandOptions,
    GuidanceOptions,
    Without<ToolOptions>,
    Without<AgentOptions>,
    Without<ModelOptions> {
  readonly command: readonly string[];
  readonly instructions?: string;
  readonly run?: never;
}

/** The persona's work is done by a coding agent that Maestro knows by its name. */
export interface AgentPersonaOptions
  extends CommonOptions,
    CommandOptions,
    Omit<AgentOptions, "agent">,
    GuidanceOptions,
    Without<ToolOptions>,
    Without<Omit<ModelOptions, "model">> {
  readonly agent: NonNullable<AgentOptions["agent"]>;
  readonly model?: ModelOptions["model"];
  readonly instructions?: string;
  readonly command?: never;
  readonly run?: never;
}

/** A persona's work is one of four kinds; keys of another kind do not compile. */
export type PersonaOptions =
  | FunctionPersonaOptions
  | ModelPersonaOptions
  | CommandPersonaOptions
  | AgentPersonaOptions;

export type Persona = PersonaOptions & { readonly name: string };

type PhaseKeys = Options<typeof phaseSection.keys>;

export interface PhaseOptions<DependsOn extends string = string>
  extends Omit<PhaseKeys, "name" | "dependsOn" | "personas"> {
  readonly personas: readonly Persona[];
  /** Default: the phase before; `[]` waits for none. */
  readonly dependsOn?: readonly DependsOn[];
}

export interface Phase<Name extends string = string, DependsOn extends string = string>
  extends PhaseOptions<DependsOn> {
  readonly name: Name;
}

type TeamKeys = Options<typeof teamSection.keys>;

export interface TeamOptions<PhaseName extends string, DependsOn extends string = string>
  extends Omit<TeamKeys, "$schema" | "name" | "phases" | "personas"> {
  readonly phases: readonly Phase<PhaseName, DependsOn>[];
}

/** A wrong name in `dependsOn` becomes a compile error at its place. Names known only at run time are accepted. */
export type KnownPhases<PhaseName extends string, DependsOn extends string> = string extends DependsOn
  ? unknown
  : [DependsOn] extends [PhaseName]
    ? unknown
    : { readonly phases: readonly Phase<NoInfer<PhaseName>, NoInfer<PhaseName>>[] };
