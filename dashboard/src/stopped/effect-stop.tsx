import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { EffectView, SettleRequest } from "../api/types.ts";
import { plainText } from "../format/plain-text.ts";
import { commandName } from "../format/shell-command.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandThenResume } from "./advice-list.tsx";
import { WhereStopped } from "./where-stopped.tsx";

/** Effects with unknown outcome: a person checks outside and says how each ended. */
export default function EffectStop() {
  const { view } = useScene();
  const unknown = view.effects.filter(({ state }) => state === "unknown");
  return (
    <div className="stopped-columns">
      <div className="stopped-why">
        <section aria-label="Why it stopped">
          <h3>Why it stopped</h3>
          <p className="ink-2 part-text outside">{plainText(view.explanation.why ?? "")}</p>
        </section>
        <WhereStopped />
      </div>
      <div className="stopped-choices">
        {unknown.map((effect) => (
          <SettleForm key={effect.seq} effect={effect} isLast={unknown.length === 1} />
        ))}
      </div>
    </div>
  );
}

interface Props {
  readonly effect: EffectView;
  /** After the last effect the session resumes. */
  readonly isLast: boolean;
}

function SettleForm({ effect, isLast }: Props) {
  const { seq, name, persona, phase, because } = effect;
  const { view, send } = useScene();
  const command = useCommand();
  const id = useId();
  const [text, setText] = useState("");
  const [error, setError] = useState<string>();
  const settle = (body: SettleRequest) => {
    const resume = isLast && view.status !== "canceled" && view.explanation.resume?.command != null;
    void send("Settling…", "Could not settle.", () =>
      client.settle(view.id, seq, { ...body, ...(resume && { resume }) }),
    );
  };
  const settleHappened = () => {
    const result = readResult(text);
    setError(result === undefined ? "This is not JSON." : undefined);
    if (result !== undefined) settle({ happened: true, ...result });
  };
  const words = command("settle", commandName(view), String(seq), "--happened", text.trim() || "null");
  return (
    <section className="choices" aria-label={`Did ${name} happen?`}>
      <h3>Did {plainText(name)} happen?</h3>
      <p className="ink-2 part-text outside">
        {plainText(`${persona} in ${phase}, step ${seq}. ${because ?? "No outcome was recorded."}`)}
      </p>
      <div className="form">
        <div className="form-field">
          <label htmlFor={id}>Result of the step as JSON, if it happened and the work uses it</label>
          <textarea
            id={id}
            className="field"
            rows={3}
            value={text}
            placeholder="Empty: no result"
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
            onChange={(event) => setText(event.target.value)}
          />
          {error === undefined ? null : (
            <p id={`${id}-error`} className="field-error" role="alert">
              {error}
            </p>
          )}
        </div>
        <div className="dialog-actions">
          <ActionButton className="button primary" onClick={settleHappened}>
            It happened
          </ActionButton>
          <ActionButton onClick={() => settle({ happened: false })}>It did not happen</ActionButton>
        </div>
      </div>
      <CommandThenResume first={words} />
    </section>
  );
}

/** Undefined if the text is not JSON; empty for an empty text. */
function readResult(text: string): { readonly result?: unknown } | undefined {
  if (text.trim() === "") return {};
  try {
    return { result: JSON.parse(text) as unknown };
  } catch {
    return undefined;
  }
}
