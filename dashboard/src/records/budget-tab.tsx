import { useState } from "react";
import { client } from "../api/client.ts";
import type { BudgetView } from "../api/types.ts";
import { tokens } from "../format/count.ts";
import { money, moneyRange } from "../format/money.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { SpendBar } from "../ui/spend-bar.tsx";
import { MoneyList } from "./money-list.tsx";
import { RaiseField } from "./raise-field.tsx";

const levels: readonly { readonly level: BudgetView["level"]; readonly title: string }[] = [
  { level: "session", title: "Session" },
  { level: "phase", title: "Phases" },
  { level: "persona", title: "Personas" },
  { level: "day", title: "Today, all sessions" },
];

export default function BudgetTab() {
  const { view } = useScene();
  return (
    <div className="record-page" role="region" aria-label="Budget" tabIndex={0}>
      <header className="record-head">
        <h2>Budget</h2>
        <p className="ink-2">
          Reserved before each call, settled with its result.
          {view.forecast === null ? "" : ` Forecast to the end: ${moneyRange(view.forecast)} more.`}
        </p>
        <span className="spring" />
        <p className="budget-legend ink-3" aria-hidden="true">
          <i className="swatch spent" /> spent <i className="swatch reserved" /> reserved
          {view.budgets.every(({ forecastUsd }) => forecastUsd === null) ? null : (
            <>
              {" "}
              <i className="swatch forecast" /> forecast
            </>
          )}
        </p>
      </header>
      <MoneyList usage={view.usage} />
      {view.budgets.length === 0 ? (
        <div className="page-part">
          <p className="ink-2">No limit is set. Set one for the session:</p>
          <RaiseSession />
        </div>
      ) : null}
      {levels.map(({ level, title }) => {
        const budgets = view.budgets.filter((budget) => budget.level === level);
        if (budgets.length === 0) return null;
        return (
          <section key={level} className="budget-level">
            <h3>{title}</h3>
            {budgets.map((budget) => (
              <BudgetLine key={`${budget.phase} ${budget.persona}`} budget={budget} />
            ))}
          </section>
        );
      })}
    </div>
  );
}

export function BudgetLine({ budget }: { readonly budget: BudgetView }) {
  const [raising, setRaising] = useState(false);
  const { level, phase, persona, limitUsd, usedUsd, reservedUsd, forecastUsd, limitTokens, usedTokens } =
    budget;
  const name =
    level === "persona" ? `${persona}` : level === "phase" ? `${phase}` : level === "day" ? "day" : "session";
  const inTokens = limitUsd === null && limitTokens !== null;
  const full = inTokens ? usedTokens >= limitTokens : limitUsd !== null && (usedUsd ?? 0) + 0.005 >= limitUsd;
  return (
    <div className="budget-line">
      <span className="one-line medium">
        {name}
        {level === "persona" && phase !== null ? <span className="ink-3"> {phase}</span> : null}
      </span>
      {inTokens ? (
        <SpendBar
          used={usedTokens}
          reserved={budget.reservedTokens}
          limit={limitTokens}
          width={360}
          full={full}
        />
      ) : limitUsd === null ? (
        <span className="ink-3">no limit</span>
      ) : (
        <SpendBar
          used={usedUsd ?? 0}
          reserved={reservedUsd ?? 0}
          limit={limitUsd}
          forecast={forecastUsd}
          width={360}
          full={full}
        />
      )}
      <span className="budget-numbers">
        {inTokens ? (
          <>
            <b className="strong">{tokens(usedTokens)}</b> of {tokens(limitTokens)} tokens
          </>
        ) : (
          <>
            <b className="strong">{money(usedUsd)}</b>
            {reservedUsd !== null && reservedUsd < 0.005 ? "" : ` + ${money(reservedUsd)}`}
            {limitUsd === null ? "" : ` of ${money(limitUsd)}`}
            {forecastUsd === null ? "" : `, forecast ${money(forecastUsd)}`}
          </>
        )}
      </span>
      {level === "day" ? (
        <span />
      ) : raising ? (
        <RaiseField budget={budget} onDone={() => setRaising(false)} />
      ) : (
        <ActionButton className="link" onClick={() => setRaising(true)}>
          Raise…<span className="unseen"> the limit of {name}</span>
        </ActionButton>
      )}
    </div>
  );
}

function RaiseSession() {
  const { view, send } = useScene();
  const [usd, setUsd] = useState("10.00");
  return (
    <form
      className="raise-form"
      onSubmit={(event) => {
        event.preventDefault();
        void send("Setting the limit…", "Could not set the limit.", () =>
          client.raiseBudget(view.id, { usd: Number(usd) }),
        );
      }}
    >
      <label>
        <span className="unseen">Limit in dollars</span>$
        <input
          className="field"
          inputMode="decimal"
          value={usd}
          onChange={(event) => setUsd(event.target.value)}
        />
      </label>
      <button type="submit" className="button">
        Set the limit
      </button>
    </form>
  );
}
