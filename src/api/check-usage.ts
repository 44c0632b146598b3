import { InputInvalid } from "../domain/errors.ts";
import { usageGroups } from "../store/reports.ts";
import type { UsageOptions } from "./options.ts";
import { type OptionNames, refuseUnknown } from "./refuse-unknown.ts";

const ofUsage: OptionNames<UsageOptions> = { by: true, session: true, since: true, most: true };

export function checkUsageOptions(options: UsageOptions): void {
  refuseUnknown("A report of usage", options, ofUsage);
  const { by, session, since, most } = options as Readonly<Record<keyof UsageOptions, unknown>>;
  if (!usageGroups.some((group) => group === by))
    throw new InputInvalid(`A report of usage is grouped by ${JSON.stringify(by) ?? "nothing"}.`, {
      advice: `Choose one: { by: "persona" }. The groups are: ${usageGroups.join(", ")}.`,
    });
  for (const [name, value] of Object.entries({ since, most }))
    if (value !== undefined && !(typeof value === "number" && Number.isFinite(value)))
      throw new InputInvalid(
        `A report of usage has ${name} of ${JSON.stringify(value)}; it must be a number.`,
      );
  if (session !== undefined && typeof session !== "string")
    throw new InputInvalid("A report of usage names its session by id or key, as a text.");
}
