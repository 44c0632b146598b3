import type { Budget } from "../domain/budget.ts";
import { type Check, checkKey } from "../domain/contract.ts";
import type { Json } from "../domain/json.ts";
import { isAccepted, type SessionState } from "./session-state.ts";

export type PlannedCheck = Pick<Check, "name" | "run" | "env">;

export interface PlannedPhase {
  readonly name: string;
  readonly dependsOn: readonly string[];
  readonly personas: readonly { readonly name: string; readonly work?: { readonly kind: string } }[];
}

/** True if personas are functions that no team file defines: only the defining program can run them. */
export function needsProgram({
  teamFile,
  definition,
}: {
  readonly teamFile?: string;
  readonly definition: Json;
}): boolean {
  const isFunction = ({ personas }: PlannedPhase) => personas.some(({ work }) => work?.kind === "function");
  return teamFile === undefined && plannedPhases(definition).some(isFunction);
}

/** The phases of a recorded definition, including those of older versions without dependencies. */
export function plannedPhases(definition: Json): readonly PlannedPhase[] {
  const phases =
    (definition as { phases?: readonly (Partial<PlannedPhase> & { name: string })[] } | null)?.phases ?? [];
  return phases.map(({ name, dependsOn, personas = [] }, place) => {
    const before = phases[place - 1];
    return { name, personas, dependsOn: dependsOn ?? (before === undefined ? [] : [before.name]) };
  });
}

/** The commands that judge the work of a recorded definition, each name and command once. */
export function plannedChecks(definition: Json): readonly PlannedCheck[] {
  type Persona = { readonly contract?: { readonly checks?: readonly PlannedCheck[] } };
  const checks = plannedPhases(definition).flatMap(({ personas }) =>
    personas.flatMap((persona) => (persona as Persona).contract?.checks ?? []),
  );
  return [...new Map(checks.map((check) => [`${check.name} ${checkKey(check)}`, check])).values()];
}

/** True if all phases of a recorded definition are accepted, so that nothing is left to run. */
export const isAllAccepted = ({ created, phases }: Pick<SessionState, "created" | "phases">): boolean =>
  plannedPhases(created.definition).every(({ name }) => isAccepted(phases.get(name)));

/** The plan in public facts. */
export interface PlannedFact {
  readonly name: string;
  readonly personas: readonly string[];
}

export const phasesFact = (definition: Json): readonly PlannedFact[] =>
  plannedPhases(definition).map(({ name, personas }) => ({
    name,
    personas: personas.map((persona) => persona.name),
  }));

/** The budget that the team itself sets. */
export function limitOf(definition: Json): Budget {
  const { budget } = (definition ?? {}) as { budget?: { tokens?: number; usd?: number } | null };
  return {
    ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
    ...(budget?.usd !== undefined && { microUsd: Math.round(budget.usd * 1_000_000) }),
  };
}
