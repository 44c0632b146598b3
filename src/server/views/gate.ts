import type { GateResult } from "../../domain/contract.ts";
import type { Gate } from "../schemas/values.ts";

/** Null where no gate was judged. */
export function gateView(gate: GateResult | undefined | null): Gate | null {
  if (gate === undefined || gate === null) return null;
  const { threshold = null, score = null, verdict } = gate;
  return { threshold, score, verdict };
}
