import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { BudgetRequest, BudgetView } from "../api/types.ts";
import { parseMoney } from "../format/money.ts";
import { useScene } from "../session/context.ts";
import { lostReason } from "../shell/connection-view.tsx";

interface Props {
  readonly budget: BudgetView;
  readonly onDone: () => void;
}

/** Raises a limit in place. */
export function RaiseField({ budget, onDone }: Props) {
  const { view, send, stale } = useScene();
  const inTokens = budget.limitUsd === null && budget.limitTokens !== null;
  const [text, setText] = useState(
    inTokens ? String(budget.limitTokens) : (budget.limitUsd ?? 10).toFixed(2),
  );
  const [error, setError] = useState<string>();
  const id = useId();
  const submit = async () => {
    const value = inTokens ? Number(text.replaceAll(",", "")) : parseMoney(text);
    const used = inTokens ? budget.usedTokens : (budget.usedUsd ?? 0);
    if (value === undefined || !Number.isFinite(value)) return setError("Not an amount.");
    if (value < used) return setError("Less than the amount already spent.");
    const place: BudgetRequest = {
      ...(budget.persona !== null && { persona: budget.persona }),
      ...(budget.phase !== null && { phase: budget.phase }),
    };
    const limit = inTokens ? { tokens: value } : { usd: value };
    const heard = await send("Raising the limit…", "Could not raise the limit.", () =>
      client.raiseBudget(view.id, { ...place, ...limit }),
    );
    if (heard) onDone();
  };
  return (
    <form
      className="raise-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (!stale) void submit();
      }}
    >
      <label htmlFor={id} className="unseen">
        New limit in {inTokens ? "tokens" : "dollars"}
      </label>
      <span aria-hidden="true">{inTokens ? "" : "$"}</span>
      <input
        id={id}
        className="field"
        inputMode="decimal"
        value={text}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onChange={(event) => setText(event.target.value)}
      />
      <button
        type="submit"
        className="button small"
        aria-disabled={stale}
        title={stale ? lostReason : undefined}
      >
        Raise
      </button>
      <button type="button" className="button small bare" onClick={onDone}>
        Keep
      </button>
      {error === undefined ? null : (
        <span id={`${id}-error`} className="field-error" role="alert">
          {error}
        </span>
      )}
    </form>
  );
}
