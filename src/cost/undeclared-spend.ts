import { advise } from "../domain/advice.ts";
import type { BudgetUnit } from "../domain/budget.ts";
import { BudgetExceeded } from "../domain/errors.ts";

/** A command persona has a limit, but its team does not declare the most that one run may use. */
export function undeclaredSpend(of: {
  readonly phase: string;
  readonly persona: string;
  readonly unit: BudgetUnit;
  readonly session: string;
}): BudgetExceeded {
  const { phase, persona, unit, session } = of;
  const amount = unit === "tokens" ? "tokens: <n>" : "usd: <x>";
  return new BudgetExceeded(
    `Persona ${persona} in phase ${phase} is a command under a budget of ${unit === "usd" ? "dollars" : "tokens"}, and its team does not say what one run may take.`,
    {
      details: { level: "persona", name: persona, unit, limit: null, used: null, asked: null, session },
      advice: [
        advise(`Write the most that one run may take into the team, at the persona: reserve: { ${amount} }.`),
        advise("Then resume", "resume", session, "--team", "<file>"),
      ],
    },
  );
}
