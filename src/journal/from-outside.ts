import type { PersonaState, PhaseState } from "./session-state.ts";

/** Brought from outside, and nobody here has worked for it: it is what it is, whatever comes before it. */
export function isFromOutside(phase: PhaseState | undefined): boolean {
  if (phase?.given === undefined || phase.status !== "completed") return false;
  return [...phase.personas.values()].every(({ input }) => input === undefined);
}

/** Nobody here made it, so nobody here could make it again; only who joined since, and was given nothing, has to work. */
export function staysGiven(
  phase: PhaseState | undefined,
  personas: readonly { readonly name: string }[],
): boolean {
  return (
    isFromOutside(phase) && personas.every(({ name }) => phase?.personas.get(name)?.result !== undefined)
  );
}

/** Whose result was given: its files are those that the phase begins with. */
export function wasGiven({ given }: PhaseState, { result, input }: PersonaState): boolean {
  return given !== undefined && result !== undefined && input === undefined;
}
