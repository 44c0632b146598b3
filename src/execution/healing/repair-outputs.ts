import { isJsonObject } from "../../domain/json.ts";
import { changedMembers } from "./as-recorded.ts";
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
    if (!isJsonObject(repaired)) return undefined;
    const members = changedMembers(result.outputs, repaired);
    if (members.length === 0) return undefined;
    return { action: { kind: "repaired-outputs", members }, outputs: repaired };
  },
};
