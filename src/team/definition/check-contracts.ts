import { globMatcher } from "../../workspace/glob.ts";
import { isWithin } from "../../workspace/glob-within.ts";
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
  checkPatterns(patterns);
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

/**
 * Patterns that only overlap say nothing about whose a file is until it is there. Sorted by the text they begin with, only
 * neighbors can match the same path.
 */
function checkPatterns(patterns: readonly Owned[]): void {
  const sorted = patterns
    .map((owned) => ({ ...owned, start: /^[^*?[\]{}!@+()\\]*/.exec(owned.file)?.[0] ?? "" }))
    .sort((one, other) => (one.start < other.start ? -1 : one.start > other.start ? 1 : 0));
  let compared = 0;
  for (const [place, first] of sorted.entries()) {
    for (let next = place + 1; next < sorted.length && compared < maxComparisons; next += 1) {
      const second = sorted[next] as Owned & { readonly start: string };
      if (!second.start.startsWith(first.start)) break;
      compared += 1;
      if (first.persona.definition.name === second.persona.definition.name) continue;
      if (isWithin(second.file, first.file)) reportWithin(second, first);
      else if (isWithin(first.file, second.file)) reportWithin(first, second);
    }
  }
}

/** Nobody writes a team in which so many patterns begin alike; such a file must not take minutes to read. */
const maxComparisons = 10_000;

function reportWithin(inner: Owned, outer: Owned): void {
  const owner = outer.persona.described.words;
  report(
    inner.persona,
    `delivers ${shown(inner.file)}, and ${owner} delivers ${shown(outer.file)}, which matches all of it`,
  );
}

interface Owned {
  readonly file: string;
  readonly persona: ReadPersona;
}

function report({ described }: ReadPersona, what: string): void {
  described.at("contract").at("deliverables").as(described.words).problem(`${what}: a file has one owner.`);
}
