/** The order decides between equals: a bug comes before a feature. */
export const briefTypes = [
  "bug-fix",
  "refactoring",
  "documentation",
  "research",
  "infrastructure",
  "testing",
  "feature",
] as const;
export type BriefType = (typeof briefTypes)[number];

export const complexities = ["small", "medium", "large"] as const;
export type Complexity = (typeof complexities)[number];

/** How many parts of the work are independent. */
export const parallelisms = ["few", "some", "many"] as const;
export type Parallelism = (typeof parallelisms)[number];

export const expertises = [
  "backend",
  "frontend",
  "database",
  "security",
  "ux",
  "devops",
  "docs",
  "testing",
] as const;
export type Expertise = (typeof expertises)[number];

/** The classification of a brief. */
export interface Classification {
  readonly type: BriefType;
  readonly complexity: Complexity;
  readonly parallelism: Parallelism;
  /** In the order of `expertises`, each once; never empty. */
  readonly expertise: readonly Expertise[];
  /** Sentences for people. */
  readonly risks: readonly string[];
  /** From 0 to 1. */
  readonly confidence: number;
}

/** A classification with its reasons, for the journal. */
export interface Classified {
  readonly classification: Classification;
  readonly reason: string;
  /** Rejected classifications, with reasons. */
  readonly rejected: readonly string[];
  /** Further decisions of a model. */
  readonly plan?: ModelPlan;
}

/** Decisions of a model besides the classification. The rules decide the rest. */
export interface ModelPlan {
  readonly blueprint?: { readonly name: string; readonly reason: string };
  readonly personas?: readonly {
    readonly phase: string;
    readonly persona: string;
    readonly works: boolean;
    readonly reason: string;
  }[];
  /** Files that the brief needs in addition to the contracts of the team. */
  readonly deliverables?: readonly {
    readonly persona: string;
    readonly name: string;
    readonly file: string;
  }[];
}
