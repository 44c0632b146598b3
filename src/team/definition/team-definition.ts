import type { Contract } from "../../domain/contract.ts";
import type { Json } from "../../domain/json.ts";

/** A team as plain data: what is recorded with a session, sealed in its checkpoints and compared at a resume. */
export interface TeamDefinition {
  readonly name: string;
  readonly description?: string;
  /** `null`: whoever starts the session says which. */
  readonly model: string | null;
  /** How many personas of a group work at once. */
  readonly parallel: number;
  readonly budget: BudgetDefinition | null;
  /** Missing: off. Otherwise each session gets the part of the team that its brief needs. */
  readonly planning?: PlanningMode;
  /** Only in the definition of a session: which part of its team it got. */
  readonly plan?: PlanDefinition;
  readonly phases: readonly PhaseDefinition[];
}

/** Who reads the brief to plan the team: rules, or one call of the session's model. */
export type PlanningMode = "rules" | "model";

/** Who was chosen stands in the phases; this is what else it takes to plan a changed team in the same way. */
export interface PlanDefinition {
  /** Fingerprint of the team that the session's own was chosen from. */
  readonly from: string;
  readonly blueprint: string;
  readonly parallelism: "few" | "some" | "many";
  /** Files that a model asked for besides: by persona, what it is called and the file. */
  readonly adds?: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** By phase, who was not chosen: whoever is neither here nor in the team came later. */
  readonly leaves?: Readonly<Record<string, readonly string[]>>;
}

export interface PhaseDefinition {
  readonly name: string;
  /** Resolved: the phase before is named here, too, when nobody said otherwise. */
  readonly dependsOn: readonly string[];
  readonly gate: GateDefinition | null;
  /** Park for review after it. */
  readonly review: boolean;
  readonly budget: BudgetDefinition | null;
  readonly personas: readonly PersonaDefinition[];
}

export interface GateDefinition {
  readonly threshold: number;
  readonly onFail: "review" | "warn";
}

export interface PersonaDefinition {
  readonly name: string;
  readonly work: WorkDefinition;
  /** Personas whose files and outputs it reads; `null`: everything so far. */
  readonly consumes: readonly string[] | null;
  readonly contract: Contract;
  readonly budget: BudgetDefinition | null;
  readonly maxAttempts: number | null;
  readonly timeoutMs: number | null;
  readonly healing: boolean;
  readonly policy: PolicyDefinition;
}

export type WorkDefinition =
  | { readonly kind: "function" }
  | {
      readonly kind: "model";
      readonly instructions: string;
      /** `null`: the team's. */
      readonly model: string | null;
      readonly fallbackModels: readonly string[];
      readonly maxSteps: number | null;
      readonly maxTimeMs?: number;
      readonly maxOutputTokens: number | null;
      readonly temperature: number | null;
    }
  | {
      readonly kind: "command";
      /** Program and arguments; a relative program is found from the workspace, never from the team file. */
      readonly argv: readonly string[];
      readonly instructions: string | null;
      /** What one run may cost at most: nobody can count it beforehand. */
      readonly reserve: BudgetDefinition | null;
      readonly network: boolean;
      /** Names of variables that are passed through; values never enter a definition. */
      readonly env: readonly string[];
      /** Places outside of the workspace: absolute, or `~/...`. */
      readonly readable?: readonly string[];
      readonly writable?: readonly string[];
    };

/** What a persona may do; `null`: whatever its contract asks for. */
export interface PolicyDefinition {
  /** Globs of the files it may write. */
  readonly write: readonly string[] | null;
  /** Checks of its contract that it may run by itself. */
  readonly checks: readonly string[] | null;
  /** Always with `submit`: without it no attempt could end. */
  readonly tools: readonly ToolName[] | null;
}

/** In tokens and dollars, as people write it. */
export interface BudgetDefinition {
  readonly tokens?: number;
  readonly usd?: number;
}

export const toolNames = [
  "read_file",
  "list_files",
  "search_files",
  "edit_file",
  "write_file",
  "run_check",
  "submit",
] as const;

export type ToolName = (typeof toolNames)[number];

export const defaultParallel = 4;

/** What a definition may come to, whoever wrote it. */
export const definitionLimits = {
  fileBytes: 1024 * 1024,
  phases: 1_000,
  /** Counted in each phase: a persona that is in three phases counts three times. */
  personas: 10_000,
  instructionsBytes: 256 * 1024,
  schemaBytes: 256 * 1024,
  schemaDepth: 64,
  /** Of all personas, counted in each phase. */
  characters: 16 * 1024 * 1024,
  listItems: 1_000,
  problems: 100,
} as const;

/** Interfaces do not pass for JSON by themselves; everything in a definition does. */
export const definitionJson = (definition: TeamDefinition): Json => definition as unknown as Json;
