import type { Demand } from "../index.ts";
import { sayWrapped } from "./output.ts";

/** Prints the demands that a person accepts when an imported session may run. `trusted`: the person passed --trust. */
export function sayDemands(demands: readonly Demand[], { trusted = false } = {}): void {
  const rule = trusted ? "You trust this imported session" : "It does not run before you trust it";
  sayWrapped(`${rule}: its brief and instructions were written elsewhere. If it runs:`);
  for (const { sentence } of demands) sayWrapped(`- ${sentence}`);
}
