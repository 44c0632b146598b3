import { globMatcher } from "../../workspace/glob.ts";
import { isWithin } from "../../workspace/glob-within.ts";
import { readNamedFiles } from "../../workspace/named-files.ts";
import { reachFrom } from "./graph.ts";
import { isPattern } from "./is-pattern.ts";
import { personaGraph } from "./order.ts";
import { Providers } from "./providers.ts";
import type { ReadPersona, ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";

interface Owned {
  readonly file: string;
  /** What the same deliverable leaves out. */
  readonly except: readonly string[];
  readonly persona: ReadPersona;
  readonly phase: string;
}

/** Nobody writes a team in which so many globs begin alike; such a file must not take minutes to read. */
const maxComparisons = 10_000;
/** The same of plain names, which are compared faster. */
const maxOwners = 100_000;

/**
 * A file has one owner at a time: of two who may work side by side, each would overwrite what the other promised. Who comes
 * after the other takes over what that one left. Where the order of the phases is not known, only those of one phase are
 * looked at.
 */
export function checkOwners(phases: readonly ReadPhase[], isOrdered: boolean): void {
  const workAtOnce = sideBySide(phases, isOrdered);
  const mayClash = (one: Owned, other: Owned): boolean =>
    one.persona.definition.name !== other.persona.definition.name && workAtOnce(one, other);
  const owned = phases.flatMap(ownedIn);
  checkSame(owned, mayClash);
  const patterns = owned.filter(({ file }) => isPattern(file));
  checkPatterns(patterns, mayClash);
  const paths = owned.filter(({ file }) => !isPattern(file));
  for (const outer of patterns) {
    const matches = globMatcher(outer.file);
    for (const inner of paths)
      if (matches(inner.file) && !isLeftOut(inner, outer) && mayClash(inner, outer))
        report(inner.persona, inner.file, `${owner(outer)}, which matches it`, leaveOut(inner));
  }
}

function ownedIn({ definition: { name: phase }, personas }: ReadPhase): Owned[] {
  return personas.flatMap((persona) => {
    const known = new Map<string, Owned>();
    for (const { files } of persona.definition.contract.deliverables) {
      const { globs, except } = readNamedFiles(files);
      for (const file of globs) known.set(file, known.get(file) ?? { file, except, persona, phase });
    }
    return [...known.values()];
  });
}

function checkSame(owned: readonly Owned[], mayClash: (one: Owned, other: Owned) => boolean): void {
  let compared = 0;
  for (const same of Map.groupBy(owned, ({ file }) => file).values()) {
    for (const [place, one] of same.entries()) {
      const other = same.slice(0, place).find((before) => ++compared < maxOwners && mayClash(before, one));
      if (other === undefined) continue;
      report(one.persona, one.file, `so does ${other.persona.described.words}`, "Let one wait for the other");
    }
  }
}

/**
 * Patterns that only overlap say nothing about whose a file is until it is there. Sorted by the text they begin with, only
 * neighbors can match the same path.
 */
function checkPatterns(patterns: readonly Owned[], mayClash: (one: Owned, other: Owned) => boolean): void {
  const sorted = patterns
    .map((owned) => ({ ...owned, start: /^[^*?[\]{}!@+()\\]*/.exec(owned.file)?.[0] ?? "" }))
    .sort((one, other) => (one.start < other.start ? -1 : one.start > other.start ? 1 : 0));
  let compared = 0;
  for (const [place, first] of sorted.entries()) {
    for (let next = place + 1; next < sorted.length && compared < maxComparisons; next += 1) {
      const second = sorted[next] as (typeof sorted)[number];
      if (!second.start.startsWith(first.start)) break;
      compared += 1;
      // The same text has been looked at.
      if (first.file === second.file || !mayClash(first, second)) continue;
      if (isPatternWithin(second, first)) reportWithin(second, first);
      else if (isPatternWithin(first, second)) reportWithin(first, second);
    }
  }
}

const isPatternWithin = (inner: Owned, outer: Owned): boolean =>
  isWithin(inner.file, outer.file) && !isLeftOut(inner, outer);

const isLeftOut = ({ file }: Owned, { except }: Owned): boolean =>
  except.some((glob) => (isPattern(file) ? isWithin(file, glob) : globMatcher(glob)(file)));

/** Whether two may work without either having the other's work before it. */
function sideBySide(phases: readonly ReadPhase[], isOrdered: boolean): (one: Owned, other: Owned) => boolean {
  const providers = new Providers({ phases: phases.map(({ definition }) => definition) });
  const graphs = new Map(
    phases.map(({ definition: { name, personas } }) => [name, personaGraph(personas)] as const),
  );
  const waitsFor = ({ phase, persona }: Owned, other: Owned): boolean => {
    if (phase !== other.phase) return (providers.ancestors(phase) & providers.only(other.phase)) !== 0n;
    const graph = graphs.get(phase);
    const { name } = persona.definition;
    // Most wait for nobody.
    if (graph === undefined || graph.get(name)?.length === 0) return false;
    return reachFrom(graph, name).has(other.persona.definition.name);
  };
  return (one, other) => {
    if (one.phase !== other.phase && !isOrdered) return false;
    return !waitsFor(one, other) && !waitsFor(other, one);
  };
}

function reportWithin(inner: Owned, outer: Owned): void {
  report(inner.persona, inner.file, `${owner(outer)}, which matches all of it`, leaveOut(inner));
}

const owner = ({ file, persona }: Owned): string => `${persona.described.words} delivers ${shown(file)}`;

const leaveOut = ({ file }: Owned): string =>
  `Let one wait for the other, or leave it out there: ${shown(`!${file}`)}`;

function report({ described }: ReadPersona, file: string, other: string, advice: string): void {
  described
    .at("contract")
    .at("deliverables")
    .as(described.words)
    .problem(
      `delivers ${shown(file)}, and ${other}: a file has one owner among those who work at once. ${advice}.`,
    );
}
