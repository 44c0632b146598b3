import { canonicalJson } from "../../domain/canonical.ts";
import { personaFieldChanges, phaseFieldChanges, teamFieldChanges } from "./field-changes.ts";
import { resultFingerprint } from "./fingerprint.ts";
import { ancestorsOf } from "./order.ts";
import { type PersonaPlace, Providers } from "./providers.ts";
import type { PersonaDefinition, PhaseDefinition, TeamDefinition } from "./team-definition.ts";

export interface ChangedPersona extends PersonaPlace {
  /** `changed`: the persona itself differs. `reads`: the same persona, but it now reads from others. */
  readonly reason: "changed" | "reads" | "removed";
}

/** The differences as sentences: phases first, then personas, then their keys. */
export function describeChanges(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  const phases = pairs(before.phases, after.phases);
  return [
    ...memberChanges("phase", before.phases, after.phases),
    ...phases.flatMap(([old, now]) =>
      memberChanges("persona", old.personas, now.personas).map((change) => `phase ${now.name}: ${change}`),
    ),
    ...teamFieldChanges(before, after),
    ...phases.flatMap(([old, now]) => [
      ...phaseFieldChanges(old, now).map((change) => `phase ${now.name}: ${change}`),
      ...pairs(old.personas, now.personas).flatMap(([one, other]) =>
        personaFieldChanges(one, other).map(
          (change) => `phase ${now.name}: persona ${other.name}: ${change}`,
        ),
      ),
    ]),
  ];
}

/**
 * The personas whose recorded results no longer count. Excludes personas that only read new results of another one:
 * whether those differ is known once they are made.
 */
export function changedPersonas(before: TeamDefinition, after: TeamDefinition): readonly ChangedPersona[] {
  const oldReads = readsOf(before);
  const newReads = readsOf(after);
  const phases = byName(after.phases);
  return before.phases.flatMap((phase) => {
    const now = phases.get(phase.name);
    const personas = byName(now?.personas ?? []);
    return phase.personas.flatMap((persona): readonly ChangedPersona[] => {
      const place = { phase: phase.name, persona: persona.name };
      const other = personas.get(persona.name);
      if (now === undefined || other === undefined) return [{ ...place, reason: "removed" }];
      if (resultFingerprint(before, phase.name, persona) !== resultFingerprint(after, now.name, other)) {
        return [{ ...place, reason: "changed" }];
      }
      return oldReads(phase, persona) === newReads(now, other) ? [] : [{ ...place, reason: "reads" }];
    });
  });
}

/** Phases of both teams that have a new persona. */
export function joinedPhases(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  return pairs(before.phases, after.phases).flatMap(([old, now]) => {
    const known = byName(old.personas);
    return now.personas.every(({ name }) => known.has(name)) ? [] : [now.name];
  });
}

/** Phases whose gate or review changed. */
export function rejudgedPhases(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  return pairs(before.phases, after.phases).flatMap(([old, now]) =>
    judgedBy(old) === judgedBy(now) ? [] : [now.name],
  );
}

/** Phases that start with the files of other phases, or of the same phases in another order. */
export function rewiredPhases(before: TeamDefinition, after: TeamDefinition): readonly string[] {
  return pairs(before.phases, after.phases).flatMap(([old, now]) => {
    // Where branches meet, the first version of a file stays, so the order of all earlier phases counts.
    const isLine = old.dependsOn.length < 2 && now.dependsOn.length < 2;
    const restsOn = isLine ? [old.dependsOn, now.dependsOn] : [ancestors(before, old), ancestors(after, now)];
    return restsOn[0]?.join(" ") === restsOn[1]?.join(" ") ? [] : [now.name];
  });
}

const ancestors = (team: TeamDefinition, { name }: PhaseDefinition) => ancestorsOf(team, name);

const judgedBy = ({ gate, review }: PhaseDefinition): string => canonicalJson([gate, review]);

/** Describes everything that a persona reads as one text. */
function readsOf(team: TeamDefinition): (phase: PhaseDefinition, persona: PersonaDefinition) => string {
  const providers = new Providers(team);
  const labels = new Map(team.phases.map((phase) => [phase.name, labelOf(phase)]));
  const everything = new Map<string, string>();

  /** Equal for all personas of a phase, and long after many phases. */
  function readsAll(phase: string): string {
    const ancestors = providers.phaseNames(providers.ancestors(phase));
    const known = everything.get(phase) ?? inOneOrder(ancestors.map((name) => labels.get(name) ?? name));
    everything.set(phase, known);
    return known;
  }

  return (phase, { name, consumes }) => {
    if (consumes === null) return readsAll(phase.name);
    const homes = (other: string) => providers.phaseNames(providers.providing(other, phase.name, name));
    return inOneOrder(consumes.map((other) => `${other}(${inOneOrder(homes(other))})`));
  };
}

const labelOf = ({ name, personas }: PhaseDefinition): string =>
  `${name}(${inOneOrder(personas.map((persona) => persona.name))})`;

const inOneOrder = (words: readonly string[]): string => [...words].sort().join(" ");

interface Named {
  readonly name: string;
}

const byName = <T extends Named>(all: readonly T[]): ReadonlyMap<string, T> =>
  new Map(all.map((one) => [one.name, one]));

/** The members of both, in the order of the later one. */
function pairs<T extends Named>(before: readonly T[], after: readonly T[]): readonly (readonly [T, T])[] {
  const old = byName(before);
  return after.flatMap((now) => {
    const one = old.get(now.name);
    return one === undefined ? [] : [[one, now] as const];
  });
}

/** Members added, removed or reordered. The order decides whose files are merged first. */
function memberChanges(what: string, before: readonly Named[], after: readonly Named[]): readonly string[] {
  const [old, now] = [byName(before), byName(after)];
  const stayed = before.filter(({ name }) => now.has(name));
  const kept = after.filter(({ name }) => old.has(name));
  const moved = stayed.some(({ name }, index) => kept[index]?.name !== name);
  return [
    ...after.filter(({ name }) => !old.has(name)).map(({ name }) => `${what} ${name} was added`),
    ...before.filter(({ name }) => !now.has(name)).map(({ name }) => `${what} ${name} was removed`),
    ...(moved ? [`the ${what}s are in another order`] : []),
  ];
}
