import { canonicalJson, sha256 } from "../domain/canonical.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { StepKind } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";

export interface StepIdentity {
  readonly fingerprint: string;
  readonly occurrence: number;
}

const maxNameLength = 200;

/** Gives each step of an attempt its identity: the same work asked for again is the next occurrence of it. */
export class StepIdentities {
  readonly #personaInput: string;
  /** Most are asked for once. */
  readonly #asked = new Set<string>();
  /** How often those were that are asked for again. */
  readonly #repeated = new Map<string, number>();

  constructor(personaInput: string) {
    this.#personaInput = personaInput;
  }

  next(kind: StepKind, name: string, input: Json): StepIdentity {
    checkName(name);
    const fingerprint = ownInput(kind)
      ? sha256(`${kind} ${canonicalJson(input)}`).slice(0, 32)
      : functionFingerprint(this.#personaInput, name, input);
    const key = kind === "function" ? fingerprint : kind + fingerprint;
    return { fingerprint, occurrence: this.#count(key) };
  }

  #count(key: string): number {
    const before = this.#asked.size;
    if (this.#asked.add(key).size > before) return 1;
    const occurrence = (this.#repeated.get(key) ?? 1) + 1;
    this.#repeated.set(key, occurrence);
    return occurrence;
  }
}

/** A function may read anything its persona does; the input of every other kind is all that it depends on. */
function ownInput(kind: StepKind): boolean {
  return kind !== "function" && kind !== "wait";
}

/** Fits between spaces, which is where the chain of the journal and the keys of records have fingerprints. */
const plainName = /^[!-~]+$/;

/** Most steps of a long history have no input: theirs says all that it covers, and a resume hashes none of it. */
function functionFingerprint(personaInput: string, name: string, input: Json): string {
  if (input === null && plainName.test(name)) return `${personaInput}:${name}`;
  // The name as JSON, so that no name can pose as a name and an input.
  const covered = `${personaInput} ${JSON.stringify(name)} ${input === null ? "" : canonicalJson(input)}`;
  return sha256(covered).slice(0, 32);
}

function checkName(name: string): void {
  if (typeof name === "string" && name.length > 0 && name.length <= maxNameLength) return;
  throw new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );
}
