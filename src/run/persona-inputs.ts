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

/** What each persona reads, and the fingerprint of it: whose input is the same need not run again. */
export class PersonaInputs {
  readonly #definition: TeamDefinition;
  readonly #session: StateHolder;
  readonly #phases: ReadonlyMap<string, PhaseDefinition>;
  readonly #brief: string;
  readonly #read = new Map<string, string>();
  /** Of the phase that is asked for now: of each phase, all would be as long as the line squared. */
  #before: { readonly phase: string; readonly results: TeamContext["results"] } | undefined;
  readonly #done = new Map<string, Readonly<Record<string, PersonaResult>>>();
  #providers: Providers | undefined;

  constructor(definition: TeamDefinition, session: StateHolder) {
    this.#definition = definition;
    this.#session = session;
    this.#brief = fingerprint([session.state.created.brief]);
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

  /** What a persona of the phase is told besides its brief: where branches clash, and what reviewers said. */
  notes(phase: PhaseDefinition): readonly string[] {
    const { clashes, notes } = phaseOf(this.#state, phase.name);
    return [...clashes, ...notes];
  }

  /** Whose contracts it reads: of each name, those in the phases before its own and in its own. */
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

  /** In the order of declaration: who began first is chance, and a prompt made of it has to be the same again. */
  resultsOf(phase: string): Record<string, PersonaResult> {
    const { personas } = phaseOf(this.#state, phase);
    return Object.fromEntries(
      (this.#phases.get(phase)?.personas ?? []).flatMap(({ name }) => {
        const result = personas.get(name)?.result;
        return result === undefined ? [] : [[name, result]];
      }),
    );
  }

  /** One object for all personas of a phase: a thousand phases must not be gone through for each of ten thousand. */
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

  /** Of a phase that is done: it does not change any more in this drive. */
  #resultsOnce(phase: string): Readonly<Record<string, PersonaResult>> {
    let known = this.#done.get(phase);
    if (known === undefined) {
      known = Object.freeze(this.resultsOf(phase));
      this.#done.set(phase, known);
    }
    return known;
  }

  /** The session's choice counts where the persona has no model of its own. */
  #modelOf({ work }: PersonaDefinition): string | null {
    return work.kind === "model" && work.model === null ? (this.#state.created.model ?? null) : null;
  }

  /** A chain, so that a long line of phases does not hash its whole past again for each. */
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
