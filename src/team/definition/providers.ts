import { sortGraph } from "./graph.ts";
import { phaseGraph } from "./order.ts";
import type { PersonaDefinition, PhaseDefinition } from "./team-definition.ts";

/** The part of a team that decides which personas read from which. */
export interface ReadOrder {
  readonly phases: readonly (Pick<PhaseDefinition, "name" | "dependsOn"> & {
    readonly personas: readonly Pick<PersonaDefinition, "name" | "consumes">[];
  })[];
}

export interface PersonaPlace {
  readonly phase: string;
  readonly persona: string;
}

/** Sets of phases as the bits of one number, so that a thousand phases are compared at once. */
export type PhaseSet = bigint;

/** Answers which personas can read from which, in a team without cycles. */
export class Providers {
  readonly personaNames: readonly string[];
  readonly #names: readonly string[];
  readonly #indexOf: ReadonlyMap<string, number>;
  readonly #ancestors = new Map<string, PhaseSet>();
  /** The phases of each persona name. */
  readonly #homes = new Map<string, PhaseSet>();

  constructor(team: ReadOrder) {
    this.#names = team.phases.map(({ name }) => name);
    this.#indexOf = new Map(this.#names.map((name, index) => [name, index]));
    const graph = phaseGraph(team);
    for (const phase of sortGraph(graph).order) {
      const direct = graph.get(phase) ?? [];
      this.#ancestors.set(
        phase,
        direct.reduce((all, name) => all | this.only(name) | this.ancestors(name), 0n),
      );
    }
    for (const { name, personas } of team.phases) {
      for (const { name: persona } of personas) {
        this.#homes.set(persona, this.homes(persona) | this.only(name));
      }
    }
    this.personaNames = [...this.#homes.keys()];
  }

  ancestors(phase: string): PhaseSet {
    return this.#ancestors.get(phase) ?? 0n;
  }

  homes(persona: string): PhaseSet {
    return this.#homes.get(persona) ?? 0n;
  }

  /** The set of this one phase. */
  only(phase: string): PhaseSet {
    const index = this.#indexOf.get(phase);
    return index === undefined ? 0n : 1n << BigInt(index);
  }

  /**
   * The phases that make what `consumer` consumes by this name: those before its own, and its own unless it names
   * itself.
   */
  providing(name: string, phase: string, consumer: string): PhaseSet {
    const readable = this.ancestors(phase) | (name === consumer ? 0n : this.only(phase));
    return this.homes(name) & readable;
  }

  /** Whether one of these phases waits for `phase`. */
  anyAfter(phases: PhaseSet, phase: string): boolean {
    return this.phaseNames(phases).some((name) => (this.ancestors(name) & this.only(phase)) !== 0n);
  }

  phaseNames(phases: PhaseSet): readonly string[] {
    return phases === 0n ? [] : this.#names.filter((name) => (phases & this.only(name)) !== 0n);
  }
}

/** The personas whose contracts a persona reads. `null`: all so far. */
export function providersOf(team: ReadOrder, phase: string, persona: string): readonly PersonaPlace[] | null {
  const { consumes = null } =
    team.phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona) ?? {};
  if (consumes === null) return null;
  const providers = new Providers(team);
  return consumes.flatMap((name) =>
    providers
      .phaseNames(providers.providing(name, phase, persona))
      .map((home) => ({ phase: home, persona: name })),
  );
}
