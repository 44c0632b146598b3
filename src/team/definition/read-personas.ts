import type { Place } from "./place.ts";
import { type Form, readPersona } from "./read-persona.ts";
import type { ReadPersona } from "./read-phase.ts";
import { shown } from "./shown.ts";
import { teamSection } from "./team-keys.ts";

/** A persona independent of its phases. */
type Described = Omit<ReadPersona, "place">;

/**
 * Finds the personas that phases name (in a file) or contain (in code). Each is read once, even if several phases
 * use it.
 */
export class Personas {
  readonly #form: Form;
  /** Undefined if the file has no usable map of personas, which is one problem instead of one per name. */
  #byName: Map<string, Described> | undefined;
  #names: readonly string[] = [];
  readonly #byValue = new Map<unknown, Described>();
  readonly #used = new Set<string>();

  /** `personas` is the team's own map. Teams in code have none. */
  constructor(personas: unknown, team: Place, form: Form) {
    this.#form = form;
    if (personas !== undefined) this.#describeAll(personas, team.at("personas"));
  }

  read(item: unknown, place: Place, phase: string): ReadPersona | undefined {
    const found = this.#form === "file" ? this.#find(item, place) : this.#describe(item, place, phase);
    if (found === undefined) return undefined;
    const { name } = found.definition;
    return { ...found, place: place.as(() => `persona ${shown(name)} of phase ${shown(phase)}`) };
  }

  reportUnused(): void {
    for (const [name, { described }] of this.#byName ?? []) {
      if (!this.#used.has(name)) described.problem("is in no phase.", "key");
    }
  }

  #describeAll(personas: unknown, place: Place): void {
    if (typeof personas !== "object" || personas === null || Array.isArray(personas)) {
      const { allowed } = teamSection.keys.personas.kind;
      return place.problem(`is ${shown(personas)}; it must be ${allowed}.`);
    }
    this.#names = Object.keys(personas);
    this.#byName = new Map(
      Object.entries(personas).map(([name, value]) => {
        const described = place.at(name).as(() => `persona ${shown(name)}`);
        return [name, read(name, value, described, "file")];
      }),
    );
  }

  #find(item: unknown, place: Place): Described | undefined {
    if (typeof item !== "string") {
      place.problem(`is ${shown(item)}; it must be the name of a persona under "personas".`);
      return undefined;
    }
    this.#used.add(item);
    const found = this.#byName?.get(item);
    if (found === undefined && this.#byName !== undefined) {
      const meant = place.problems.closest(item, this.#names);
      // A misspelled persona is not also reported as unused.
      if (meant !== undefined) this.#used.add(meant);
      const hint = meant === undefined ? "" : ` Did you mean "${meant}"?`;
      place.problem(`is ${shown(item)}, and there is no such persona.${hint}`);
    }
    return found;
  }

  #describe(item: unknown, place: Place, phase: string): Described | undefined {
    const known = this.#byValue.get(item);
    if (known !== undefined) return known;
    const name = (item as { readonly name?: unknown } | null | undefined)?.name;
    if (typeof name !== "string") {
      place.problem(`is ${shown(item)}; it must be the result of persona("name", { ... }).`);
      return undefined;
    }
    const described = read(
      name,
      item,
      place.as(() => `persona ${shown(name)} of phase ${shown(phase)}`),
      "module",
    );
    this.#byValue.set(item, described);
    return described;
  }
}

function read(name: string, value: unknown, described: Place, form: Form): Described {
  const before = described.problems.count;
  const definition = readPersona(name, value, described, form);
  const size = JSON.stringify(definition).length;
  return { definition, described, size, isSound: described.problems.count === before };
}
