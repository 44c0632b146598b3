import type { Contract } from "../../domain/contract.ts";
import type { Json } from "../../domain/json.ts";
import type { AgentName } from "../../personas/command/agent.ts";
import type { Permissions } from "../../personas/command/agent-launch.ts";
import type { Values } from "./fields.ts";
import type {
  commandKeys,
  GateDefinition,
  guidanceKeys,
  modelKeys,
  personaKeys,
  phaseSection,
  policySection,
  teamSection,
  toolKeys,
} from "./team-keys.ts";

export type { ToolName } from "../../personas/tools/tool-table.ts";
export type { BudgetDefinition, GateDefinition } from "./team-keys.ts";

type Recorded<Key extends string, All> = Omit<All, Key>;

/** A team as plain data: recorded with a session, sealed in its checkpoints and compared on resume. */
export interface TeamDefinition
  extends Recorded<"$schema" | "planning" | "phases" | "personas", Values<typeof teamSection.keys>> {
  /** Missing: off. Otherwise each session gets the part of the team that its brief needs. */
  readonly planning?: PlanningMode;
  /** Only in a session's definition: the chosen part of its team. */
  readonly plan?: PlanDefinition;
  readonly phases: readonly PhaseDefinition[];
}

/** How the brief is read to plan the team: by rules, or by one call of the session's model. */
export type PlanningMode = "rules" | "model";

/** The chosen personas are in the phases. This is the other data for planning a changed team in the same way. */
export interface PlanDefinition {
  /** Fingerprint of the team that the session's own was chosen from. */
  readonly from: string;
  readonly blueprint: string;
  readonly parallelism: "few" | "some" | "many";
  /** Additional files that a model requested: by persona, the deliverable's name and its file. */
  readonly adds?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By phase, the personas that were not chosen. Any other missing persona joined the team later. */
  readonly leaves?: Readonly<Record<string, readonly string[]>>;
}

export interface PhaseDefinition
  extends Recorded<"dependsOn" | "personas" | "gate", Values<typeof phaseSection.keys>> {
  /** Resolved, by default to the phase before it. */
  readonly dependsOn: readonly string[];
  readonly gate: GateDefinition | null;
  readonly personas: readonly PersonaDefinition[];
}

export interface PersonaDefinition
  extends Recorded<"contract" | "policy", Values<typeof personaKeys>>,
    Values<typeof toolKeys>,
    Values<typeof guidanceKeys> {
  readonly name: string;
  readonly work: WorkDefinition;
  readonly contract: Contract;
  readonly policy: PolicyDefinition;
}

export type WorkDefinition =
  | { readonly kind: "function" }
  | ({ readonly kind: "model"; readonly instructions: string } & Values<typeof modelKeys>)
  | ({
      readonly kind: "command";
      /** Program and arguments. A relative program is found in the workspace, never beside the team file. */
      readonly argv: readonly string[];
      readonly instructions: string | null;
      /** Set where the team names an agent instead of a command line. */
      readonly agent?: AgentDefinition;
    } & Values<typeof commandKeys>);

export interface AgentDefinition {
  readonly name: AgentName;
  readonly model: string | null;
  readonly permissions: Permissions;
}

/** `null`: everything that the contract asks for. */
export type PolicyDefinition = Values<typeof policySection.keys>;

/** TypeScript does not assign interfaces to JSON, although everything in a definition is JSON. */
export const definitionJson = (definition: TeamDefinition): Json => definition as unknown as Json;
