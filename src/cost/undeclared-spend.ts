import type { BudgetUnit } from "../domain/budget.ts";
import { BudgetExceeded } from "../domain/errors.ts";

/** A command under a limit, of which nobody has said what one run may take. */
export function undeclaredSpend(of: {
  readonly phase: string;
  readonly persona: string;
  readonly unit: BudgetUnit;
  readonly session: string;
}): BudgetExceeded {
  const { phase, persona, unit, session } = of;
  const amount = unit === "tokens" ? "tokens: <n>" : "usd: <x>";
  return new BudgetExceeded(
    `Persona ${persona} in phase ${phase} is a command under a budget of ${unit === "usd" ? "dollars" : "tokens"}, and nobody has said what one run may take.`,
    {
      details: { level: "persona", name: persona, unit, limit: null, used: null, asked: null, session },
      advice: `Write what one run may take at most into the team, at the persona: reserve: { ${amount} }; then: maestro resume ${session} --team <file>`,
    },
  );
}
