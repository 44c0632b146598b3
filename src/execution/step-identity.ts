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
  readonly #occurrences = new Map<string, number>();

  constructor(personaInput: string) {
    this.#personaInput = personaInput;
  }

  next(kind: StepKind, name: string, input: Json): StepIdentity {
    checkName(name);
    const fingerprint = ownInput(kind)
      ? sha256(`${kind} ${canonicalInput(name, input)}`).slice(0, 32)
      : functionFingerprint(this.#personaInput, name, input);
    const key = kind === "function" ? fingerprint : kind + fingerprint;
    const occurrence = (this.#occurrences.get(key) ?? 0) + 1;
    this.#occurrences.set(key, occurrence);
    return { fingerprint, occurrence };
  }
}

/** A function may read anything its persona does; the input of every other kind is all that it depends on. */
function ownInput(kind: StepKind): boolean {
  return kind !== "function" && kind !== "wait";
}

/** The name as JSON, so that no name can pose as a name and an input. */
function functionFingerprint(personaInput: string, name: string, input: Json): string {
  return sha256(
    `${personaInput} ${JSON.stringify(name)} ${input === null ? "" : canonicalInput(name, input)}`,
  ).slice(0, 32);
}

/** What it cannot hold would make one step of two: the second would be given the result of the first. */
function canonicalInput(name: string, input: Json): string {
  try {
    return canonicalJson(input);
  } catch (cause) {
    if (!InputInvalid.is(cause)) throw cause;
    const { message, advice, details } = cause;
    throw new InputInvalid(`The input of step "${name}" is no JSON: ${message}.`, { advice, details, cause });
  }
}

function checkName(name: string): void {
  if (typeof name === "string" && name.length > 0 && name.length <= maxNameLength) return;
  throw new InputInvalid(
    `A step needs a name of 1 to ${maxNameLength} characters, not ${JSON.stringify(name)?.slice(0, 80)}.`,
  );
}
