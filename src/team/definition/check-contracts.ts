import { globMatcher } from "../../workspace/glob.ts";
import { isPattern } from "./is-pattern.ts";
import type { ReadPersona, ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";

export function checkContracts(phases: readonly ReadPhase[]): void {
  checkOwners(phases);
  for (const phase of phases) checkGate(phase);
}

/** A gate that judges nothing would let everything pass. */
function checkGate({ definition, place, personas }: ReadPhase): void {
  // What could not be read may be the very contract.
  if (definition.gate === null || personas.length === 0 || !personas.every(({ isSound }) => isSound)) return;
  if (personas.some(({ definition }) => weightOf(definition.contract) > 0)) return;
  place
    .at("gate")
    .as(place.words)
    .problem(
      "has a gate and nothing to judge: give a persona of it a contract with deliverables, outputs or checks.",
    );
}

function weightOf({ deliverables, outputs, checks }: ReadPersona["definition"]["contract"]): number {
  const judged = [...deliverables, ...checks].reduce((sum, { weight }) => sum + weight, 0);
  return judged + (outputs === undefined ? 0 : 1);
}

/** A file has one owner: of two, the later would overwrite what the earlier promised. */
function checkOwners(phases: readonly ReadPhase[]): void {
  const owners = new Map<string, ReadPersona>();
  const patterns: Owned[] = [];
  const paths: Owned[] = [];
  for (const { personas } of phases) {
    for (const persona of personas) {
      const { deliverables } = persona.definition.contract;
      for (const file of new Set(deliverables.flatMap(({ files }) => files))) {
        const owner = owners.get(file);
        if (owner === undefined) {
          owners.set(file, persona);
          (isPattern(file) ? patterns : paths).push({ file, persona });
        } else if (owner.definition.name !== persona.definition.name) {
          report(persona, `delivers ${shown(file)}, and so does ${owner.described.words}`);
        }
      }
    }
  }
  for (const { file: pattern, persona: owner } of patterns) {
    const matches = globMatcher(pattern);
    for (const { file, persona } of paths) {
      if (owner.definition.name === persona.definition.name || !matches(file)) continue;
      report(
        persona,
        `delivers ${shown(file)}, and ${owner.described.words} delivers ${shown(pattern)}, which matches it`,
      );
    }
  }
}

interface Owned {
  readonly file: string;
  readonly persona: ReadPersona;
}

function report({ described }: ReadPersona, what: string): void {
  described.at("contract").at("deliverables").as(described.words).problem(`${what}: a file has one owner.`);
}
