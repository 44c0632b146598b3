import { fingerprint } from "../domain/canonical.ts";
import type { PersonaResult } from "../domain/journal.ts";
import { personaOf, phaseOf, type SessionState } from "../domain/session-state.ts";
import type { TeamContext } from "../execution/persona-context.ts";
import { personaFingerprint } from "./definition/fingerprint.ts";
import { ancestorsOf } from "./definition/order.ts";
import { Providers } from "./definition/providers.ts";
import type { PersonaDefinition, PhaseDefinition, TeamDefinition } from "./definition/team-definition.ts";

/** Where a consumed contract is fulfilled. */
export interface Provider {
  readonly phase: string;
  readonly persona: PersonaDefinition;
}

/** What each persona reads, and the fingerprint of it: whose input is the same need not run again. */
export class Readings {
  readonly #definition: TeamDefinition;
  readonly #state: SessionState;
  readonly #phases: ReadonlyMap<string, PhaseDefinition>;
  readonly #brief: string;
  readonly #before = new Map<string, string>();
  #providers: Providers | undefined;

  constructor(definition: TeamDefinition, state: SessionState) {
    this.#definition = definition;
    this.#state = state;
    this.#brief = fingerprint([state.created.brief]);
    this.#phases = new Map(definition.phases.map((phase) => [phase.name, phase]));
  }

  /** The results a persona sees: of all phases before its own, or of the contracts it consumes. */
  context(phase: PhaseDefinition, persona: PersonaDefinition): TeamContext {
    const results: Record<string, Record<string, PersonaResult>> = {};
    if (persona.consumes === null) {
      for (const name of ancestorsOf(this.#definition, phase.name)) results[name] = this.resultsOf(name);
    } else {
      for (const provider of this.providers(phase, persona)) {
        const result = personaOf(this.#state, provider.phase, provider.persona.name).result;
        if (result !== undefined) (results[provider.phase] ??= {})[provider.persona.name] = result;
      }
    }
    return { sessionId: this.#state.id, phase: phase.name, results };
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
    const { notes } = phaseOf(this.#state, phase.name);
    const definition = personaFingerprint(this.#definition, phase.name, persona.name);
    return fingerprint([
      read,
      phase.name,
      persona.name,
      definition,
      this.#modelOf(persona),
      tree ?? null,
      notes,
    ]);
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

  resultsOf(phase: string): Record<string, PersonaResult> {
    const { personas } = phaseOf(this.#state, phase);
    return Object.fromEntries(
      [...personas].flatMap(([name, { result }]) => (result === undefined ? [] : [[name, result]])),
    );
  }

  /** The session's choice counts where the persona has no model of its own. */
  #modelOf({ work }: PersonaDefinition): string | null {
    return work.kind === "model" && work.model === null ? (this.#state.created.model ?? null) : null;
  }

  /** A chain, so that a long line of phases does not hash its whole past again for each. */
  #readBefore(phase: string): string {
    let known = this.#before.get(phase);
    if (known === undefined) {
      const { dependsOn = [] } = this.#phases.get(phase) ?? {};
      known = fingerprint([
        this.#brief,
        ...dependsOn.map((before) => [this.#readBefore(before), before, this.resultsOf(before) as never]),
      ]);
      this.#before.set(phase, known);
    }
    return known;
  }
}
