import type { PersonaReturn as Submitted } from "../models/persona-return.ts";
import type { PersonaReturn } from "./persona-context.ts";

/** What a model submitted or an agent said at its end, as every persona returns it. */
export function asReturn({ summary, outputs, decisions }: Submitted): PersonaReturn {
  return {
    summary,
    outputs,
    decisions: decisions.map(({ decision, reason, rejected = [] }) => ({
      title: decision,
      choice: decision,
      reason,
      rejected,
    })),
  };
}
