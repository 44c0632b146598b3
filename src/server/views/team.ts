import type { SessionState } from "../../journal/session-state.ts";
import type { TeamDefinitionView } from "../schemas/inside.ts";
import { definitionOf } from "./definition.ts";

export function teamView(state: SessionState, maxAttempts: number): TeamDefinitionView {
  const { created } = state;
  const { name, model, phases } = definitionOf(state);
  return {
    name,
    fingerprint: created.teamFingerprint,
    file: created.teamFile ?? null,
    model: created.model ?? model,
    given: (created.given ?? []).map(({ phase, origin }) => ({ phase, path: origin })),
    phases: phases.map((phase) => ({
      name: phase.name,
      dependsOn: phase.dependsOn ?? [],
      gate: phase.gate?.threshold ?? null,
      personas: phase.personas.map(({ name, work, contract, maxAttempts: own }) => ({
        name,
        work: work.kind,
        model: work.kind === "model" ? work.model : null,
        instructions: work.kind === "function" ? null : work.instructions,
        maxAttempts: own ?? maxAttempts,
        checks: contract.checks.map((check) => check.name),
        deliverables: contract.deliverables.flatMap(({ files }) => files),
      })),
    })),
  };
}
