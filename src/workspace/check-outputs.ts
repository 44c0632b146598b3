import type { CheckResult } from "../domain/contract.ts";
import { createFailure } from "../domain/failure.ts";
import type { Json } from "../domain/json.ts";
import { oneLine } from "./check-message.ts";
import { checkSchema, showProblem, validateJson } from "./json-schema.ts";

export function judgeOutputs(schema: Readonly<Record<string, Json>>, outputs: Json | undefined): CheckResult {
  const base = { kind: "schema", name: "outputs", must: true, weight: 1 } as const;
  const wrong = checkSchema(schema).map(showProblem);
  if (wrong.length > 0)
    return { ...base, status: "not-run", message: `The schema is wrong: ${oneLine(wrong)}`, failures: [] };
  const problems =
    outputs === undefined ? ["no outputs were given"] : validateJson(schema, outputs).map(showProblem);
  if (problems.length === 0)
    return { ...base, status: "passed", message: "The outputs fit the schema.", failures: [] };
  const failures = problems.map((message) =>
    createFailure({
      category: "CONTRACT",
      message: `The outputs do not fit the schema: ${message}`,
      source: "schema",
      suggestedFix: "Give outputs that fit the contract's schema.",
    }),
  );
  return { ...base, status: "failed", message: oneLine(problems), failures };
}
