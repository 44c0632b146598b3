import type { UseQueryResult } from "@tanstack/react-query";
import type { Plan, PlanLine } from "../api/types.ts";
import { moneyRange } from "../format/money.ts";
import { costText, planLineText, planTotalText } from "../sentences/plan-text.ts";
import { StatusMark } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";

/** The plan before the action: reused work, work that runs, and the probable cost. */
export function PlanView({ query }: { readonly query: UseQueryResult<Plan> }) {
  return (
    <Loaded query={query} failed="Could not work out the plan." rows={3}>
      {(plan) => <PlanTable plan={plan} />}
    </Loaded>
  );
}

function PlanTable({ plan }: { readonly plan: Plan }) {
  if (plan.nothingRuns)
    return (
      <p className="ink-2">Nothing will run: every input is unchanged. "Reuse nothing" runs it again.</p>
    );
  return (
    <table className="plan">
      <caption className="unseen">What is reused, what runs, and what it may cost</caption>
      <tbody>
        {plan.lines
          .filter(({ phases, personas }) => phases.length + personas.length > 0)
          .map((line, index) => (
            <tr key={index}>
              <th scope="row">
                <ActionWord action={line.action} />
              </th>
              <td>{planLineText(line)}</td>
              <td className="end">{costText(line.cost)}</td>
            </tr>
          ))}
        {plan.total === null ? null : (
          <tr className="plan-total">
            <th scope="row">Total</th>
            <td>{planTotalText(plan)}</td>
            <td className="end strong">{moneyRange(plan.total)}</td>
          </tr>
        )}
      </tbody>
    </table>
  );
}

function ActionWord({ action }: Pick<PlanLine, "action">) {
  if (action === "reuse")
    return (
      <span className="plan-action tone-reused">
        <StatusMark icon="reused" size={14} /> Reuse
      </span>
    );
  if (action === "run")
    return (
      <span className="plan-action tone-running">
        <Icon name="play" size={14} /> Run
      </span>
    );
  return (
    <span className="plan-action tone-quiet">
      <StatusMark icon="pending" size={14} /> Then
    </span>
  );
}
