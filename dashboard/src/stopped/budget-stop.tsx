import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { ProposedLimit, Situation } from "../api/types.ts";
import { count } from "../format/count.ts";
import { money, moneyRange, parseMoney } from "../format/money.ts";
import { plainText } from "../format/plain-text.ts";
import { commandName } from "../format/shell-command.ts";
import { BudgetLine } from "../records/budget-tab.tsx";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { Icon } from "../ui/icons.tsx";
import { AdviceList, CommandThenResume } from "./advice-list.tsx";
import { PhoneBar } from "./phone-bar.tsx";

interface Props {
  readonly situation: Extract<Situation, { kind: "budget" }>;
}

export default function BudgetStop({ situation }: Props) {
  const { view, open } = useScene();
  const { why, todo, raise } = view.explanation;
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        <section aria-label="Why it stopped">
          <h3>Why it stopped</h3>
          <p className="ink-2 part-text outside">{plainText(why ?? "")}</p>
          <div className="budget-level">
            {view.budgets
              .filter((budget) => budget.level !== "day")
              .map((budget) => (
                <BudgetLine key={`${budget.level} ${budget.phase} ${budget.persona}`} budget={budget} />
              ))}
          </div>
        </section>
      </div>
      <div className="stopped-choices">
        <section className="choices" aria-label="What you can do">
          <h3>What you can do</h3>
          {raise === null ? (
            <>
              <AdviceList advice={todo} />
              <ResumeLater />
            </>
          ) : (
            <RaiseForm least={situation.used + situation.asked} raise={raise} />
          )}
          <p className="part-text ink-2">
            Or keep the limit and{" "}
            <ActionButton className="link" onClick={() => open({ kind: "fork", forModel: true })}>
              fork with a cheaper model…
            </ActionButton>
          </p>
        </section>
      </div>
    </div>
  );
}

interface FormProps {
  /** The amount that the next call alone needs. */
  readonly least: number;
  readonly raise: ProposedLimit;
}

function RaiseForm({ least, raise }: FormProps) {
  const { view, send, open } = useScene();
  const command = useCommand();
  const inTokens = raise.unit === "tokens";
  const forecast = inTokens ? null : view.forecast;
  const [text, setText] = useState(() => (inTokens ? String(raise.amount) : raise.amount.toFixed(2)));
  const [error, setError] = useState<string>();
  const id = useId();
  const place = raise.name === null ? {} : { [raise.level]: raise.name };
  const value = inTokens ? Number(text.replaceAll(",", "")) : parseMoney(text);
  const submit = () => {
    if (value === undefined || !Number.isFinite(value)) return setError("Not an amount.");
    if (value < least)
      return setError(`The next call alone needs ${inTokens ? `${count(least)} tokens` : money(least)}.`);
    setError(undefined);
    const limit = inTokens ? { tokens: value } : { usd: value };
    void send("Raising the limit…", "Could not raise the limit.", () =>
      client.raiseBudget(view.id, { ...place, ...limit, resume: true }),
    );
  };
  const amount = value === undefined || !Number.isFinite(value) ? "..." : String(value);
  const target = raise.name === null ? [] : [`--${raise.level}`, raise.name];
  return (
    <>
      <form
        className="raise-stop"
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <label htmlFor={id}>Raise the limit to</label>
        <span className="money-field">
          {inTokens ? null : <span aria-hidden="true">$</span>}
          <input
            id={id}
            className="field"
            inputMode="decimal"
            value={text}
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
            onChange={(event) => setText(event.target.value)}
          />
        </span>
        <ActionButton className="button primary" onClick={submit}>
          <Icon name="play" size={14} />
          Raise and resume
        </ActionButton>
        {error === undefined ? null : (
          <p id={`${id}-error`} className="field-error" role="alert">
            {error}
          </p>
        )}
      </form>
      {forecast === null ? null : (
        <p className="ink-2 part-text">Forecast to the end: {moneyRange(forecast)} more.</p>
      )}
      <CommandThenResume
        first={command("budget", commandName(view), ...target, inTokens ? "--tokens" : "--usd", amount)}
      />
      <PhoneBar
        other={{ word: "Fork…", run: () => open({ kind: "fork", forModel: true }) }}
        main={{ word: "Raise the limit…", run: () => document.getElementById(id)?.focus() }}
      />
    </>
  );
}

function ResumeLater() {
  const { open } = useScene();
  return (
    <>
      <div className="dialog-actions part-text">
        <ActionButton onClick={() => open({ kind: "resume" })}>
          <Icon name="play" size={14} />
          Resume…
        </ActionButton>
      </div>
      <PhoneBar
        other={{ word: "Fork…", run: () => open({ kind: "fork", forModel: true }) }}
        main={{ word: "Resume…", run: () => open({ kind: "resume" }) }}
      />
    </>
  );
}
