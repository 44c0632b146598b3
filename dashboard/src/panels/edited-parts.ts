import type { PhaseEdit } from "../api/types.ts";

/** The parts that an edit changes: "design/openapi.yaml", "outputs of architect". */
export function editedParts({ files = {}, outputs = {} }: PhaseEdit): readonly string[] {
  return [...Object.keys(files), ...Object.keys(outputs).map((persona) => `outputs of ${persona}`)];
}

/** Merges two edits; the second wins for the same file or persona. */
export function mergeEdits(one: PhaseEdit | undefined, two: PhaseEdit): PhaseEdit {
  const files = { ...one?.files, ...two.files };
  const outputs = { ...one?.outputs, ...two.outputs };
  return {
    ...(Object.keys(files).length > 0 && { files }),
    ...(Object.keys(outputs).length > 0 && { outputs }),
  };
}

/** Undefined if nothing remains. */
export function withoutPart({ files = {}, outputs = {} }: PhaseEdit, part: string): PhaseEdit | undefined {
  const without = <Value>(of: Readonly<Record<string, Value>>, name: string) =>
    Object.fromEntries(Object.entries(of).filter(([each]) => each !== name));
  const left = mergeEdits(undefined, {
    files: without(files, part),
    outputs: without(outputs, part.replace(/^outputs of /, "")),
  });
  return Object.keys(left).length === 0 ? undefined : left;
}
