import type { Fields } from "./fields.ts";
import type { Place } from "./place.ts";
import { readPersona } from "./read-persona.ts";
import type { ReadPersona } from "./read-phase.ts";
import type { Form } from "./read-work.ts";
import { shown } from "./shown.ts";

/** A persona, whatever phases it is in. */
type Described = Omit<ReadPersona, "place">;

/** Finds the personas that phases name (in a file) or hold (in code), and reads each once, however many phases it is in. */
export class Personas {
  readonly #form: Form;
  /** Missing when there is no list to find them in, which is said once and not for each. */
  #byName: Map<string, Described> | undefined;
  #names: readonly string[] = [];
  readonly #byValue = new Map<unknown, Described>();
  readonly #used = new Set<string>();

  constructor(team: Fields, form: Form) {
    this.#form = form;
    if (form === "file") this.#describeAll(team);
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

  #describeAll(team: Fields): void {
    const { place } = team;
    const personas = team.value("personas");
    if (personas === undefined) {
      if (team.lacks("personas")) place.problem('has no "personas": describe each by its name.');
      return;
    }
    if (typeof personas !== "object" || personas === null || Array.isArray(personas)) {
      return place.at("personas").problem(`is ${shown(personas)}; it must be an object of personas by name.`);
    }
    this.#names = Object.keys(personas);
    this.#byName = new Map(
      Object.entries(personas).map(([name, value]) => {
        const described = place
          .at("personas")
          .at(name)
          .as(() => `persona ${shown(name)}`);
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
      // Misspelled is not unused.
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
