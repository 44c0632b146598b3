import { fingerprint } from "../domain/canonical.ts";
import type { PersonaResult } from "../journal/journal.ts";
import { personaOf, phaseOf, type SessionState } from "../journal/session-state.ts";
import type { TeamContext } from "../personas/function.ts";
import { personaFingerprint } from "../team/definition/fingerprint.ts";
import { ancestorsOf } from "../team/definition/order.ts";
import { Providers } from "../team/definition/providers.ts";
import type {
  PersonaDefinition,
  PhaseDefinition,
  TeamDefinition,
} from "../team/definition/team-definition.ts";

/** A session whose state changes while it runs, such as a driver's journal. */
export interface StateHolder {
  readonly state: SessionState;
}

/** Where a consumed contract is fulfilled. */
export interface Provider {
  readonly phase: string;
  readonly persona: PersonaDefinition;
}

/** The inputs of each persona and their fingerprint. A persona with an unchanged input need not run again. */
export class PersonaInputs {
  readonly #definition: TeamDefinition;
  readonly #session: StateHolder;
  readonly #phases: ReadonlyMap<string, PhaseDefinition>;
  readonly #brief: string;
  readonly #read = new Map<string, string>();
  /** Only of the current phase: kept for every phase, it would grow with the square of the number of phases. */
  #before: { readonly phase: string; readonly results: TeamContext["results"] } | undefined;
  readonly #done = new Map<string, Readonly<Record<string, PersonaResult>>>();
  #providers: Providers | undefined;

  constructor(definition: TeamDefinition, session: StateHolder) {
    this.#definition = definition;
    this.#session = session;
    const { brief, attachments = [] } = session.state.created;
    const files = attachments.map(({ name, sha256 }) => [name, sha256]);
    this.#brief = fingerprint(files.length === 0 ? [brief] : [brief, files]);
    this.#phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  }

  get #state(): SessionState {
    return this.#session.state;
  }

  /** The results a persona sees: of all phases before its own, or of the contracts it consumes. */
  context(phase: PhaseDefinition, persona: PersonaDefinition): TeamContext {
    if (persona.consumes === null)
      return { sessionId: this.#state.id, phase: phase.name, results: this.#resultsBefore(phase.name) };
    const results = new Map<string, Record<string, PersonaResult>>();
    for (const provider of this.providers(phase, persona)) {
      const { name } = provider.persona;
      const { result } = personaOf(this.#state, provider.phase, name);
      if (result === undefined) continue;
      const known = results.get(provider.phase) ?? {};
      known[name] = result;
      results.set(provider.phase, known);
    }
    return { sessionId: this.#state.id, phase: phase.name, results: Object.fromEntries(results) };
  }

  /** `tree`: the hash of the files the persona sees. */
  input(phase: PhaseDefinition, persona: PersonaDefinition, tree: string | undefined): string {
    const read =
      persona.consumes === null
        ? this.#readBefore(phase.name)
        : fingerprint([
            this.#brief,
            ...this.providers(phase, persona).map(({ phase, persona: { name } }) => [
              phase,
              name,
              (personaOf(this.#state, phase, name).result ?? null) as never,
            ]),
          ]);
    const definition = personaFingerprint(this.#definition, phase.name, persona.name);
    return fingerprint([
      read,
      phase.name,
      persona.name,
      definition,
      this.#modelOf(persona),
      tree ?? null,
      this.notes(phase),
    ]);
  }

  /** Notes that a persona of the phase gets with its brief: clashes of branches, and notes of reviewers. */
  notes(phase: PhaseDefinition): readonly string[] {
    const { clashes, notes } = phaseOf(this.#state, phase.name);
    return [...clashes, ...notes];
  }

  /** The personas whose contracts it consumes, in its own phase and in those before. */
  providers(phase: PhaseDefinition, persona: PersonaDefinition): Provider[] {
    this.#providers ??= new Providers(this.#definition);
    const providers = this.#providers;
    return (persona.consumes ?? []).flatMap((name) =>
      providers.phaseNames(providers.providing(name, phase.name, persona.name)).flatMap((home) => {
        const found = this.#phases.get(home)?.personas.find((candidate) => candidate.name === name);
        return found === undefined ? [] : [{ phase: home, persona: found }];
      }),
    );
  }

  /** In the order of declaration. The order of execution varies, and a replayed prompt must be identical. */
  resultsOf(phase: string): Record<string, PersonaResult> {
    const { personas } = phaseOf(this.#state, phase);
    return Object.fromEntries(
      (this.#phases.get(phase)?.personas ?? []).flatMap(({ name }) => {
        const result = personas.get(name)?.result;
        return result === undefined ? [] : [[name, result]];
      }),
    );
  }

  /** One object for all personas of a phase, so that a long team is not read once per persona. */
  #resultsBefore(phase: string): TeamContext["results"] {
    if (this.#before?.phase === phase) return this.#before.results;
    const results = Object.freeze(
      Object.fromEntries(
        ancestorsOf(this.#definition, phase).map((name) => [name, this.#resultsOnce(name)] as const),
      ),
    );
    this.#before = { phase, results };
    return results;
  }

  /** A completed phase does not change in this drive. */
  #resultsOnce(phase: string): Readonly<Record<string, PersonaResult>> {
    let known = this.#done.get(phase);
    if (known === undefined) {
      known = Object.freeze(this.resultsOf(phase));
      this.#done.set(phase, known);
    }
    return known;
  }

  /** The session's model, where the persona names none. */
  #modelOf({ work }: PersonaDefinition): string | null {
    return work.kind === "model" && work.model === null ? (this.#state.created.model ?? null) : null;
  }

  /** A chain of hashes, so that a phase does not hash all phases before it again. */
  #readBefore(phase: string): string {
    let known = this.#read.get(phase);
    if (known === undefined) {
      const { dependsOn = [] } = this.#phases.get(phase) ?? {};
      known = fingerprint([
        this.#brief,
        ...dependsOn.map((before) => [this.#readBefore(before), before, this.resultsOf(before) as never]),
      ]);
      this.#read.set(phase, known);
    }
    return known;
  }
}
