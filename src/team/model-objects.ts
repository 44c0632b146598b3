import { isModelObject, type ModelObjects, modelName } from "../personas/model/model-object.ts";
import type { Team } from "./define.ts";

/** The model objects that apply to a persona: its own, its fallbacks and its team's. */
export function modelObjects(
  { model, phases = [] }: Partial<Pick<Team, "model" | "phases">>,
  phase: string,
  persona: string,
): ModelObjects {
  const written = phases.find(({ name }) => name === phase)?.personas.find(({ name }) => name === persona);
  const own = [...(written?.fallbackModels ?? []), written?.model];
  // If two have the same name, the persona's own applies.
  return objectsByName([model, ...own]);
}

export const objectsByName = (written: readonly unknown[]): ModelObjects =>
  Object.fromEntries(written.filter(isModelObject).map((one) => [modelName(one), one]));
