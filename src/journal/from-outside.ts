import type { PersonaState, PhaseState } from "./session-state.ts";

/** Its output came from outside, and no persona of this session worked on it: changes before it do not affect it. */
export function isFromOutside(phase: PhaseState | undefined): boolean {
  if (phase?.given === undefined || phase.status !== "completed") return false;
  return [...phase.personas.values()].every(({ input }) => input === undefined);
}

/** No persona here can make it again. It runs only if a persona joined since that was given no result. */
export function staysGiven(
  phase: PhaseState | undefined,
  personas: readonly { readonly name: string }[],
): boolean {
  return (
    isFromOutside(phase) && personas.every(({ name }) => phase?.personas.get(name)?.result !== undefined)
  );
}

/** The persona's result came from outside: its files are those that the phase begins with. */
export function wasGiven({ given }: PhaseState, { result, input }: PersonaState): boolean {
  return given !== undefined && result !== undefined && input === undefined;
}
