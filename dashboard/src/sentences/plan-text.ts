import type { Plan, PlanLine, Range } from "../api/types.ts";
import { counted, listed } from "../format/count.ts";
import { money, moneyRange } from "../format/money.ts";
import { clock } from "../format/time.ts";

/** "requirements, sealed 02:14", "design, 2 personas" */
export function planLineText({ action, phases, personas, sealedAt }: PlanLine): string {
  if (action === "reuse") {
    if (phases.length === 0) return `${namesOrCount(personas)} with unchanged inputs`;
    const seal = sealedAt === null ? "" : `, sealed ${clock(Date.parse(sealedAt))}`;
    const more = personas.length === 0 ? "" : ` and ${counted(personas.length, "persona")} unchanged`;
    return `${phases.join(", ")}${more}${seal}`;
  }
  if (phases.length === 0) return namesOrCount(personas);
  return personas.length === 0 ? phases.join(", ") : `${listed(phases)}: ${namesOrCount(personas)}`;
}

const namesOrCount = (personas: readonly string[]): string =>
  personas.length <= 3 ? personas.join(", ") : counted(personas.length, "persona");

export const costText = (cost: Range | null): string => (cost === null ? "price unknown" : moneyRange(cost));

/** "about $4.10 of $8.09 left" */
export function planTotalText({ expectedUsd, leftUsd }: Plan): string {
  const about = expectedUsd === null ? "" : `about ${money(expectedUsd)}`;
  if (leftUsd === null) return about;
  return about === "" ? `${money(leftUsd)} left` : `${about} of ${money(leftUsd)} left`;
}
