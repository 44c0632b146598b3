import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { Situation } from "../api/types.ts";
import { count } from "../format/count.ts";
import { money, moneyRange, parseMoney } from "../format/money.ts";
import { commandName } from "../format/shell-command.ts";
import { BudgetLine } from "../records/budget-tab.tsx";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { PhoneBar } from "./phone-bar.tsx";
import { placeOf, suggestedLimit } from "./suggested-limit.ts";

interface Props {
  readonly situation: Extract<Situation, { kind: "budget" }>;
}

export default function BudgetStop({ situation }: Props) {
  const { view, speak, open } = useScene();
  const inTokens = situation.unit === "tokens";
  const forecast = inTokens ? null : view.forecast;
  const [text, setText] = useState(() => {
    const limit = suggestedLimit(situation, forecast);
    return inTokens ? String(limit) : limit.toFixed(2);
  });
  const [error, setError] = useState<string>();
  const id = useId();
  const { level, persona, attempt, used, asked } = situation;
  const place = placeOf(level);
  const value = inTokens ? Number(text.replaceAll(",", "")) : parseMoney(text);
  const raise = () => {
    if (value === undefined || !Number.isFinite(value)) return setError("Not an amount.");
    if (value < used + asked) {
      const least = inTokens ? `${count(used + asked)} tokens` : money(used + asked);
      return setError(`The next call alone needs ${least}.`);
    }
    setError(undefined);
    const limit = inTokens ? { tokens: value } : { usd: value };
    void speak("Raising the limit…", "Could not raise the limit.", () =>
      client.raiseBudget(view.id, { ...place, ...limit, resume: true }),
    );
  };
  const command = useCommand();
  const name = commandName(view);
  const amount = value === undefined || !Number.isFinite(value) ? "..." : String(value);
  const target = Object.entries(place).flatMap(([of, named]) => [`--${of}`, named]);
  const raised = command("budget", name, ...target, inTokens ? "--tokens" : "--usd", amount);
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        <section aria-label="Why it stopped">
          <h3>Why it stopped</h3>
          <p className="ink-2 part-text">
            Nothing was overspent.{" "}
            {persona === null
              ? ""
              : `${persona}${attempt === null ? "" : `, attempt ${attempt}`}, waits with its work intact.`}
          </p>
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
          {level === "day" ? (
            <DayLimit setting={inTokens ? "budget.dayTokens" : "budget.dayUsd"} />
          ) : (
            <>
              <form
                className="raise-stop"
                onSubmit={(event) => {
                  event.preventDefault();
                  raise();
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
                <ActionButton className="button primary" onClick={raise}>
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
              <CommandLine command={`${raised} && ${command("resume", name)}`} />
              <PhoneBar
                other={{ word: "Fork…", run: () => open({ kind: "fork", forModel: true }) }}
                main={{ word: "Raise the limit…", run: () => document.getElementById(id)?.focus() }}
              />
            </>
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

/** A limit of all sessions together: a single session cannot raise it. */
function DayLimit({ setting }: { readonly setting: string }) {
  const { open } = useScene();
  return (
    <>
      <p className="part-text">
        The limit of the day is the server's: raise <code>{setting}</code> in its configuration and start it
        again, or wait for the next day (UTC). Then resume.
      </p>
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
