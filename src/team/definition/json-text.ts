import { InputInvalid } from "../../domain/errors.ts";
import { type Json, parseJson } from "../../domain/json.ts";
import { definitionLimits } from "./limits.ts";
import { findFaults } from "./node-faults.ts";
import { locateNode } from "./node-places.ts";
import { maxSourceDepth, type PlacedProblem, type SourceText } from "./source-text.ts";
import { parseYaml } from "./yaml-text.ts";

/** Reads strict JSON. Positions come from reading it once more as YAML, a superset of JSON. */
export async function readJson(text: string): Promise<SourceText> {
  const broken = (problems: readonly PlacedProblem[]): SourceText => ({
    kind: "broken",
    language: "JSON",
    problems,
  });
  let value: Json;
  try {
    value = parseJson(text, { what: "It", maxBytes: definitionLimits.fileBytes, maxDepth: maxSourceDepth });
  } catch (error) {
    if (!InputInvalid.is(error)) throw error;
    return broken([syntaxProblem(error)]);
  }
  const { document, position } = await parseYaml(text);
  const faults = await findFaults(document.contents);
  if (faults.length > 0)
    return broken(faults.map(({ sentence, offset }) => ({ sentence, ...position(offset) })));
  return { kind: "read", value, locate: await locateNode(document, position) };
}

function syntaxProblem({ message, details }: InputInvalid): PlacedProblem {
  const { line, column } = details;
  if (typeof line !== "number" || typeof column !== "number") return { sentence: `${message}.` };
  // The position is printed before the sentence, like all others.
  return { sentence: `${message.replace(/^.*line \d+, column \d+: u/, "U")}.`, line, column };
}
