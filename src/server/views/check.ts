import type { CheckResult } from "../../domain/contract.ts";
import type { CheckView } from "../schemas/values.ts";

export function checkView({ kind, name, status, must, weight, message }: CheckResult): CheckView {
  return { kind, name, status, must, weight, message };
}
