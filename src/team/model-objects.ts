import { isModelObject, type ModelObjects, modelName } from "../personas/model/model-object.ts";
import type { Team } from "./define.ts";

/** The models that code gave to a persona as objects: its own, those it falls back to, and that of its team. */
export function modelObjects(
  { model, phases = [] }: Partial<Pick<Team, "model" | "phases">>,
  phase: string,
  persona: string,
): ModelObjects {
  const written = phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona);
  const own = [...(written?.fallbackModels ?? []), written?.model];
  // Where two have one name, the persona's own counts.
  return objectsByName([model, ...own]);
}

export const objectsByName = (written: readonly unknown[]): ModelObjects =>
  Object.fromEntries(written.filter(isModelObject).map((one) => [modelName(one), one]));
