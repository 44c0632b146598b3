import { globMatcher, isWithin } from "../../workspace/glob.ts";
import { readNamedFiles } from "../../workspace/named-files.ts";
import { reachFrom } from "./graph.ts";
import { isPattern } from "./is-pattern.ts";
import { personaGraph } from "./order.ts";
import { Providers } from "./providers.ts";
import type { ReadPersona, ReadPhase } from "./read-phase.ts";
import { shown } from "./shown.ts";

interface Owned {
  readonly file: string;
  /** Globs that the same deliverable excludes. */
  readonly except: readonly string[];
  readonly persona: ReadPersona;
  readonly phase: string;
}

/** No sensible team has so many globs with one prefix. A hostile one must not take minutes to read. */
const maxComparisons = 10_000;
/** The same limit for plain paths, which are compared faster. */
const maxOwners = 100_000;

/**
 * A file has one owner among personas that may work at once, because they would overwrite each other's deliverable.
 * A persona that runs after the other may deliver the same file. If the order of the phases is unknown, only
 * personas of one phase are compared.
 */
export function checkOwners(phases: readonly ReadPhase[], isOrdered: boolean): void {
  const workAtOnce = sideBySide(phases, isOrdered);
  const mayClash = (one: Owned, other: Owned): boolean =>
    one.persona.definition.name !== other.persona.definition.name && workAtOnce(one, other);
  const owned = phases.flatMap(ownedIn);
  checkSame(owned, mayClash);
  const patterns = owned.filter(({ file }) => isPattern(file));
  checkPatterns(patterns, mayClash);
  const paths = owned
    .filter(({ file }) => !isPattern(file))
    .sort((one, other) => (one.file < other.file ? -1 : 1));
  for (const outer of patterns) {
    const matches = globMatcher(outer.file);
    for (const inner of beginningWith(startOf(outer), paths))
      if (matches(inner.file) && !isLeftOut(inner, outer) && mayClash(inner, outer))
        report(inner.persona, inner.file, `${owner(outer)}, which matches it`, leaveOut(inner));
  }
}

/** The prefix of every match. */
const startOf = ({ file }: Owned): string => /^[^*?[\]{}!@+()\\]*/.exec(file)?.[0] ?? "";

/** The sorted paths that may match. Uses binary search, because a team may have thousands of patterns and paths. */
function beginningWith(start: string, sorted: readonly Owned[]): readonly Owned[] {
  let from = 0;
  for (let to = sorted.length; from < to; ) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as Owned).file < start) from = middle + 1;
    else to = middle;
  }
  let end = from;
  while (sorted[end]?.file.startsWith(start) === true) end += 1;
  return sorted.slice(from, end);
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
      report(one.persona, one.file, `so does ${other.persona.described.title}`, "Let one wait for the other");
    }
  }
}

/**
 * Reports a pattern that lies within another. Overlapping patterns are allowed. Sorted by prefix, only neighbors
 * can match the same path.
 */
function checkPatterns(patterns: readonly Owned[], mayClash: (one: Owned, other: Owned) => boolean): void {
  const sorted = patterns
    .map((owned) => ({ ...owned, start: startOf(owned) }))
    .sort((one, other) => (one.start < other.start ? -1 : one.start > other.start ? 1 : 0));
  let compared = 0;
  for (const [place, first] of sorted.entries()) {
    for (let next = place + 1; next < sorted.length && compared < maxComparisons; next += 1) {
      const second = sorted[next] as (typeof sorted)[number];
      if (!second.start.startsWith(first.start)) break;
      compared += 1;
      // checkSame compares equal globs.
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

/** Whether neither persona runs after the other. */
function sideBySide(phases: readonly ReadPhase[], isOrdered: boolean): (one: Owned, other: Owned) => boolean {
  const providers = new Providers({ phases: phases.map(({ definition }) => definition) });
  const graphs = new Map(
    phases.map(({ definition: { name, personas } }) => [name, personaGraph(personas)] as const),
  );
  const reached = new Map<ReadPersona, ReadonlySet<string>>();
  const waitsFor = ({ phase, persona }: Owned, other: Owned): boolean => {
    if (phase !== other.phase) return (providers.ancestors(phase) & providers.only(other.phase)) !== 0n;
    const graph = graphs.get(phase);
    const { name } = persona.definition;
    // Most personas wait for no other.
    if (graph === undefined || graph.get(name)?.length === 0) return false;
    const known = reached.get(persona) ?? reachFrom(graph, name);
    reached.set(persona, known);
    return known.has(other.persona.definition.name);
  };
  return (one, other) => {
    if (one.phase !== other.phase && !isOrdered) return false;
    return !waitsFor(one, other) && !waitsFor(other, one);
  };
}

function reportWithin(inner: Owned, outer: Owned): void {
  report(inner.persona, inner.file, `${owner(outer)}, which matches all of it`, leaveOut(inner));
}

const owner = ({ file, persona }: Owned): string => `${persona.described.title} delivers ${shown(file)}`;

const leaveOut = ({ file }: Owned): string =>
  `Let one wait for the other, or leave it out there: ${shown(`!${file}`)}`;

function report({ described }: ReadPersona, file: string, other: string, advice: string): void {
  described
    .at("contract")
    .at("deliverables")
    .as(described.title)
    .problem(
      `delivers ${shown(file)}, and ${other}: personas that work at once cannot deliver the same file. ${advice}.`,
    );
}
