import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { WaitingView } from "../api/types.ts";
import { plainText } from "../format/plain-text.ts";
import { commandName } from "../format/shell-command.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { LongText } from "../ui/long-text.tsx";
import { NoteField } from "../ui/note-field.tsx";
import { CommandThenResume } from "./advice-list.tsx";
import { WhereStopped } from "./where-stopped.tsx";

/** For a session in which only calls and questions wait for a person. */
export default function CallStop() {
  const { view } = useScene();
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
        <CallForms />
      </div>
    </div>
  );
}

/** One form for each waiting call. */
export function CallForms() {
  const { view } = useScene();
  const calls = waitingCalls(view.waiting);
  // The last answer resumes the session if it waited for nothing else.
  const resume =
    calls.length === 1 &&
    view.reason === "review" &&
    view.review === null &&
    view.explanation.resume?.command != null;
  return calls.map((waiting) =>
    waiting.kind === "question" ? (
      <QuestionForm key={waiting.seq} waiting={waiting} resume={resume} />
    ) : (
      <CallForm key={waiting.seq} waiting={waiting} resume={resume} />
    ),
  );
}

export const waitingCalls = (waiting: readonly WaitingView[]): readonly WaitingView[] =>
  waiting.filter(({ kind }) => kind === "call" || kind === "question");

interface Props {
  readonly waiting: WaitingView;
  /** Whether the session resumes after this answer. */
  readonly resume: boolean;
}

function CallForm({ waiting, resume }: Props) {
  const { seq, persona, call } = waiting;
  const { tool, args } = partsOf(call);
  const shown = JSON.stringify(args, null, 2);
  const { view, send } = useScene();
  const command = useCommand();
  const [argumentsId, noteId] = [useId(), useId()];
  const [text, setText] = useState(shown);
  const [note, setNote] = useState("");
  const [error, setError] = useState<"arguments" | "note">();
  const isEdited = text !== shown;
  const approve = () => {
    const edited = isEdited ? readObject(text) : {};
    setError(edited === undefined ? "arguments" : undefined);
    if (edited === undefined) return;
    void send("Approving…", "Could not approve.", () =>
      client.approveCall(view.id, seq, {
        ...(isEdited && { arguments: edited }),
        ...(note.trim() !== "" && { note: note.trim() }),
        resume,
      }),
    );
  };
  const reject = () => {
    const isMissing = note.trim() === "";
    setError(isMissing ? "note" : undefined);
    if (isMissing) return document.getElementById(noteId)?.focus();
    void send("Rejecting…", "Could not reject.", () =>
      client.rejectCall(view.id, seq, { note: note.trim(), resume }),
    );
  };
  const words = command("approve", commandName(view), "--call", String(seq));
  return (
    <section className="choices" aria-label={`May ${persona} call ${tool}?`}>
      <h3>
        May {persona} call {plainText(tool)}?
      </h3>
      <p className="ink-2 part-text">
        Call {seq}. It has not begun, and what you approve is what is shown here.
      </p>
      {typeof args["command"] === "string" ? (
        // A keyboard must be able to scroll a long line.
        <pre className="code-block outside" role="region" aria-label="Command" tabIndex={0}>
          {plainText(args["command"])}
        </pre>
      ) : null}
      <div className="form">
        <div className="form-field">
          <label htmlFor={argumentsId}>Arguments as JSON</label>
          <textarea
            id={argumentsId}
            className="field mono"
            rows={Math.min(12, shown.split("\n").length + 1)}
            value={text}
            spellCheck={false}
            aria-invalid={error === "arguments"}
            aria-describedby={error === "arguments" ? `${argumentsId}-error` : undefined}
            onChange={(event) => setText(event.target.value)}
          />
          {error === "arguments" ? (
            <p id={`${argumentsId}-error`} className="field-error" role="alert">
              This is not a JSON object.
            </p>
          ) : null}
        </div>
        <NoteField
          id={noteId}
          value={note}
          placeholder="Needed to reject: it becomes the result of the call"
          error={error === "note" ? "Say why. The persona gets your note as the result." : undefined}
          onChange={setNote}
        />
        <div className="dialog-actions">
          <ActionButton className="button primary" onClick={approve}>
            {isEdited ? "Approve with these arguments" : "Approve"}
          </ActionButton>
          <ActionButton onClick={reject}>Reject</ActionButton>
        </div>
      </div>
      <CommandThenResume first={words} />
    </section>
  );
}

function QuestionForm({ waiting: { seq, persona, call }, resume }: Props) {
  const { args } = partsOf(call);
  const question = typeof args["question"] === "string" ? args["question"] : "";
  const choices = Array.isArray(args["choices"])
    ? args["choices"].filter((choice): choice is string => typeof choice === "string")
    : [];
  const { view, send } = useScene();
  const command = useCommand();
  const id = useId();
  const [text, setText] = useState("");
  const [isMissing, setMissing] = useState(false);
  const answer = () => {
    setMissing(text.trim() === "");
    if (text.trim() === "") return;
    void send("Answering…", "Could not answer.", () => client.answerCall(view.id, seq, { text, resume }));
  };
  const words = command("answer", commandName(view), String(seq), text.trim() === "" ? "..." : text);
  return (
    <section className="choices" aria-label={`Question of ${persona}`}>
      <h3>{persona} asks</h3>
      <LongText text={question} />
      <div className="form">
        {choices.length > 0 ? (
          <div className="choice-list" role="radiogroup" aria-label="Answers">
            {choices.map((choice, index) => (
              <div key={choice} className="choice">
                <label className="radio-line" htmlFor={`${id}-${index}`}>
                  <input
                    id={`${id}-${index}`}
                    type="radio"
                    name={id}
                    checked={text === choice}
                    onChange={() => setText(choice)}
                  />
                  <span className="choice-title outside">{plainText(choice)}</span>
                </label>
              </div>
            ))}
          </div>
        ) : (
          <div className="form-field">
            <label htmlFor={id}>Answer</label>
            <textarea
              id={id}
              className="field"
              rows={3}
              value={text}
              aria-invalid={isMissing}
              aria-describedby={isMissing ? `${id}-error` : undefined}
              onChange={(event) => setText(event.target.value)}
            />
          </div>
        )}
        {isMissing ? (
          <p id={`${id}-error`} className="field-error" role="alert">
            {choices.length > 0 ? "Choose an answer." : "Write an answer."}
          </p>
        ) : null}
        <div className="dialog-actions">
          <ActionButton className="button primary" onClick={answer}>
            Answer
          </ActionButton>
        </div>
      </div>
      <CommandThenResume first={words} />
    </section>
  );
}

function partsOf(call: unknown): { readonly tool: string; readonly args: Readonly<Record<string, unknown>> } {
  const { tool, arguments: args } = (call ?? {}) as { readonly tool?: unknown; readonly arguments?: unknown };
  return { tool: typeof tool === "string" ? tool : "", args: asObject(args) ?? {} };
}

function readObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    return asObject(JSON.parse(text));
  } catch {
    return undefined;
  }
}

const asObject = (value: unknown): Readonly<Record<string, unknown>> | undefined =>
  typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Readonly<Record<string, unknown>>)
    : undefined;
