import { type Amount, microsToUsd } from "../../domain/budget.ts";
import type { Plan } from "../../index.ts";
import type { PlanView } from "../schemas/actions.ts";
import type { SessionPageView } from "../schemas/session.ts";
import type { Range } from "../schemas/values.ts";

const free: Range = { lowUsd: 0, highUsd: 0 };

/** Lines for display: reused work and work that runs. */
export function planView(plan: Plan, page: SessionPageView): PlanView {
  const { personas, cost, unknown, effects } = plan;
  const runs = personas.filter(({ action }) => action === "runs" || action === "may-run");
  const total = unknown.length > 0 ? null : rangeOf(cost.least, cost.most);
  const nothingRuns = runs.length === 0;
  return {
    lines: [
      ...reusedLines(personas, page),
      ...(nothingRuns
        ? []
        : [
            {
              action: "run" as const,
              phases: [...new Set(runs.map(({ phase }) => phase))],
              personas: runs.map(({ persona }) => persona),
              sealedAt: null,
              cost: total,
            },
          ]),
    ],
    total: nothingRuns ? free : total,
    expectedUsd: nothingRuns ? 0 : (total?.lowUsd ?? null),
    leftUsd: leftOf(page),
    nothingRuns,
    personas,
    effects,
    tokens: { least: cost.least.tokens, most: cost.most.tokens },
    unknown,
  };
}

/** Whole phases by name. For phases that run, the reused personas. */
function reusedLines(planned: Plan["personas"], page: SessionPageView): PlanView["lines"] {
  const isKept = (action: string): boolean => action === "kept" || action === "reused";
  const byPhase = [...Map.groupBy(planned, ({ phase }) => phase)];
  const whole = byPhase.filter(([, personas]) => personas.every(({ action }) => isKept(action)));
  const parts = byPhase
    .filter(([, personas]) => !personas.every(({ action }) => isKept(action)))
    .flatMap(([, personas]) => personas.filter(({ action }) => isKept(action)));
  const line = { action: "reuse", cost: free } as const;
  return [
    ...whole.map(([phase]) => {
      const sealedAt = page.phases.find(({ name }) => name === phase)?.checkpoint?.sealedAt ?? null;
      return { ...line, phases: [phase], personas: [], sealedAt };
    }),
    ...(parts.length === 0
      ? []
      : [{ ...line, phases: [], personas: parts.map(({ persona }) => persona), sealedAt: null }]),
  ];
}

function rangeOf(least: Amount, most: Amount): Range | null {
  if (least.microUsd === null || most.microUsd === null) return null;
  return { lowUsd: microsToUsd(least.microUsd), highUsd: microsToUsd(most.microUsd) };
}

function leftOf({ budgets }: SessionPageView): number | null {
  const session = budgets.find(({ level }) => level === "session");
  if (session === undefined || session.limitUsd === null || session.usedUsd === null) return null;
  return Math.max(0, session.limitUsd - session.usedUsd);
}
