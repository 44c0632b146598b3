import { isJsonObject } from "../../domain/json.ts";
import { changedMembers } from "./as-recorded.ts";
import type { Healer } from "./healer.ts";

/** Fits outputs of the wrong form to the contract's schema. */
export const repairOutputs: Healer = {
  name: "repair-outputs",
  categories: ["CONTRACT"],
  heal: async ({ checks, contract, result }) => {
    const failed = checks.some(({ kind, status }) => kind === "schema" && status === "failed");
    if (!failed || contract.outputs === undefined || result === undefined) return undefined;
    const { repairJson } = await import("./repair-json.ts");
    const repaired = repairJson(contract.outputs, result.outputs);
    if (!isJsonObject(repaired)) return undefined;
    const members = changedMembers(result.outputs, repaired);
    if (members.length === 0) return undefined;
    return { action: { kind: "repaired-outputs", members }, outputs: repaired };
  },
};
