import type { CheckResult } from "../../domain/contract.ts";
import type { CheckView } from "../schemas/values.ts";

export function checkView({
  kind,
  name,
  status,
  must,
  weight,
  message,
  tests,
  output,
}: CheckResult): CheckView {
  return { kind, name, status, must, weight, message, tests: tests ?? null, output: output ?? null };
}
