import type { BudgetChange } from "../domain/budget.ts";

/** What people say from another process; becomes one journal row. */
export type Message =
  | { readonly say: "pause" }
  | { readonly say: "cancel" }
  /** `phase`: the one that is meant; several may wait for review at once. */
  | { readonly say: "approve"; readonly phase?: string; readonly note?: string }
  | { readonly say: "reject"; readonly phase?: string; readonly note: string }
  /** A new limit; what is missing stays as it is. */
  | {
      readonly say: "budget";
      readonly level: "persona" | "phase" | "session";
      /** Of the persona or the phase. */
      readonly name?: string;
      readonly budget: BudgetChange;
    };
