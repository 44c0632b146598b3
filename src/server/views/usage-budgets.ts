import type { Maestro } from "../../api/open.ts";
import { changedBudget, microsToUsd } from "../../domain/budget.ts";
import type { UsageReportView } from "../schemas/server.ts";

const mostSessions = 20;
const dayMs = 24 * 3_600_000;

export interface DayLimit {
  readonly tokens: number | undefined;
  readonly usd: number | undefined;
}

/** Today's budget, and the budgets of unfinished sessions that have a limit. */
export async function usageBudgets(
  maestro: Maestro,
  { limit, now, session }: { limit: DayLimit; now: number; session: string | undefined },
): Promise<UsageReportView["budgets"]> {
  const [today, sessions] = await Promise.all([dayBudget(maestro, limit, now), sessionBudgets(maestro)]);
  if (session === undefined) return [...today, ...sessions];
  const { id } = await maestro.find(session);
  return sessions.filter((budget) => budget.id === id);
}

async function dayBudget(
  maestro: Maestro,
  { usd, tokens }: DayLimit,
  now: number,
): Promise<UsageReportView["budgets"]> {
  if (usd === undefined && tokens === undefined) return [];
  const { total } = await maestro.usage({ by: "day", since: now - (now % dayMs) });
  return [
    {
      level: "day",
      id: null,
      key: null,
      limitUsd: usd ?? null,
      usedUsd: total.costUsd,
      limitTokens: tokens ?? null,
      usedTokens: total.inputTokens + total.outputTokens,
    },
  ];
}

async function sessionBudgets(maestro: Maestro): Promise<UsageReportView["budgets"]> {
  const open = await maestro.list({
    statuses: ["queued", "running", "paused", "parked"],
    order: "created",
    limit: 200,
  });
  return open
    .flatMap(({ id, key, card, usage }) => {
      const { microUsd, tokens } = changedBudget(card.limit ?? {}, card.raised ?? {});
      if (microUsd === undefined && tokens === undefined) return [];
      return [
        {
          level: "session" as const,
          id,
          key: key ?? null,
          limitUsd: microUsd === undefined ? null : microsToUsd(microUsd),
          usedUsd: usage === null ? 0 : usage.costUsd,
          limitTokens: tokens ?? null,
          usedTokens: usage === null ? 0 : usage.inputTokens + usage.outputTokens,
        },
      ];
    })
    .slice(0, mostSessions);
}
