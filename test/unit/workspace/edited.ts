import { applyEdits, type Edit, type EditReport, type EditRung } from "../../../src/workspace/edit.ts";
import type { EditRefusal } from "../../../src/workspace/edit-refusal.ts";

export function applied(
  text: string,
  ...edits: readonly Edit[]
): { readonly text: string; readonly report: EditReport } {
  const result = applyEdits(text, edits);
  if (result.kind === "refused") throw new Error(result.message);
  return result;
}

export function refused(text: string, ...edits: readonly Edit[]): EditRefusal {
  const result = applyEdits(text, edits);
  if (result.kind === "applied") throw new Error(`applied: ${JSON.stringify(result.text)}`);
  return result;
}

export const rungs = ({ report }: { readonly report: EditReport }): EditRung[] =>
  report.edits.map(({ rung }) => rung);
