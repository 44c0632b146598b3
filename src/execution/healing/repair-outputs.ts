import { canonicalJson } from "../../domain/canonical.ts";
import { isJsonObject } from "../../domain/json.ts";
import type { Healer } from "./healer.ts";
import { repairJson } from "./repair-json.ts";

/** Outputs that say the right thing in the wrong form are bent into the contract's. */
export const repairOutputs: Healer = {
  name: "repair-outputs",
  categories: ["CONTRACT"],
  heal: async ({ checks, contract, result }) => {
    const failed = checks.some(({ kind, status }) => kind === "schema" && status === "failed");
    if (!failed || contract.outputs === undefined || result === undefined) return undefined;
    const repaired = repairJson(contract.outputs, result.outputs);
    if (!isJsonObject(repaired) || canonicalJson(repaired) === canonicalJson(result.outputs))
      return undefined;
    return { action: "put the outputs into the form of the contract's schema", outputs: repaired };
  },
};
