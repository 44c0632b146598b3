import type { CheckResult } from "../../domain/contract.ts";
import type { SetupFailed } from "../../domain/errors.ts";
import { createFailure } from "../../domain/failure.ts";

/** A persona that changed the inputs is at fault when its packages cannot be installed. */
export function notInstalled(
  check: { readonly name: string; readonly must: CheckResult["must"]; readonly weight: number },
  error: SetupFailed,
): CheckResult {
  const { printed = "" } = error.details as { readonly printed?: string };
  const failure = createFailure({
    category: "IMPORT",
    message: error.message,
    details: printed,
    source: "setup",
    suggestedFix: "Correct the files that name the dependencies.",
  });
  return {
    kind: "command",
    name: check.name,
    must: check.must,
    weight: check.weight,
    status: "failed",
    message: error.message,
    failures: [failure],
  };
}
