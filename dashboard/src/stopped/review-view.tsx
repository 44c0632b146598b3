import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { Review } from "../api/types.ts";
import { counted, listed } from "../format/count.ts";
import { moneyRange } from "../format/money.ts";
import { oneLine, plainText } from "../format/plain-text.ts";
import { CheckLine } from "../inspector/detail-tabs.tsx";
import { CommentList } from "../review/comment-list.tsx";
import { noteWith, useComments } from "../review/comments.ts";
import { ReviewFiles } from "../review/review-files.tsx";
import { reviewCommand } from "../sentences/review-command.ts";
import { gateWord } from "../sentences/status-word.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { Status } from "../status/status.tsx";
import { Icon } from "../ui/icons.tsx";
import { LongText } from "../ui/long-text.tsx";
import { NoteField } from "../ui/note-field.tsx";
import { CommandThenResume } from "./advice-list.tsx";
import { PhoneBar } from "./phone-bar.tsx";

/** First the changed files, then results, checks, gate and note, then approve, reject with a note, or edit. */
export default function ReviewView({ review }: { readonly review: Review }) {
  const { view, send, open } = useScene();
  const [path, setPath] = useState(review.files[0]?.path);
  const [note, setNote] = useState("");
  const [error, setError] = useState<string>();
  const command = useCommand();
  const id = useId();
  const comments = useComments(view.id, review.phase, review.revision);
  const rejection = noteWith(note, comments.list);
  const situation = view.situation.kind === "review" ? view.situation : undefined;
  const focusNote = () => document.getElementById(id)?.focus();

  const approve = () =>
    void send("Approving…", "Could not approve.", () =>
      client.approve(view.id, {
        phase: review.phase,
        ...(note.trim() !== "" && { note: note.trim() }),
        resume: true,
      }),
    );
  const reject = () => {
    if (rejection === "") {
      setError("Say what has to change, here or at a line.");
      focusNote();
      return;
    }
    setError(undefined);
    // The dialog asks whether effects that already happened may happen again.
    if (view.effects.some(({ phase, state }) => phase === review.phase && state === "happened"))
      return open({ kind: "reject" });
    void send("Rejecting…", "Could not reject.", async () => {
      await client.reject(view.id, { phase: review.phase, note: rejection, resume: true });
      comments.clear();
    });
  };
  const next = situation?.next ?? [];
  return (
    <div className="stopped-columns review">
      <div className="stopped-why">
        <ReviewFiles review={review} comments={comments} path={path} onSelect={setPath} />
        <ReviewResults results={review.results} />
      </div>
      <div className="stopped-choices">
        <section aria-label="Gate and checks">
          <header className="part-head">
            <h3>
              {review.phase}, revision {review.revision}
            </h3>
            <span className="spring" />
            {review.gate === null ? null : <Status status={gateWord(review.gate)} />}
          </header>
          <ul className="check-list">
            {review.checks.map((check) => (
              <CheckLine key={`${check.kind} ${check.name}`} check={check} />
            ))}
          </ul>
          {review.putBack.length === 0 ? null : <PutBackList changes={review.putBack} />}
        </section>
        <section className="choices" aria-label="Your decision">
          <NoteField id={id} value={note} placeholder="Needed to reject" error={error} onChange={setNote} />
          <CommentList comments={comments} />
          <div className="dialog-actions">
            <ActionButton className="button primary" onClick={approve}>
              <Icon name="check" size={14} />
              Approve
            </ActionButton>
            <ActionButton onClick={reject}>Reject…</ActionButton>
            <ActionButton
              onClick={() => open({ kind: "edit", phase: review.phase, ...(path !== undefined && { path }) })}
            >
              <Icon name="pencil" size={14} />
              Edit…
            </ActionButton>
          </div>
          <p className="ink-2 part-text">
            {next.length === 0 ? "Nothing is left to run after it." : `Then ${listed(next)} runs`}
            {view.forecast === null || next.length === 0 ? "" : `, ${moneyRange(view.forecast)} to the end`}
            {next.length === 0 ? "" : "."}{" "}
            {review.files.length === 0
              ? "No file was changed."
              : `${counted(review.files.length, "file")} changed.`}
          </p>
          <CommandThenResume first={reviewCommand(command, view, "approve", review.phase, note.trim())} />
          <PhoneBar
            other={{ word: "Reject…", run: () => open({ kind: "reject" }) }}
            main={{ word: "Approve…", run: () => open({ kind: "approve" }) }}
          />
        </section>
      </div>
    </div>
  );
}

/** Protected files that a persona changed, and that were restored. */
function PutBackList({ changes }: { readonly changes: Review["putBack"] }) {
  return (
    <>
      <h4>Put back</h4>
      <ul className="check-list" aria-label="Changes that were put back">
        {changes.map(({ persona, path, why }) => (
          <li key={`${persona} ${path}`} className="outside">
            <span>
              <code>{oneLine(path)}</code>{" "}
              <span className="ink-2">
                {persona} changed it, and {oneLine(why, 400)}
              </span>
            </span>
          </li>
        ))}
      </ul>
    </>
  );
}

/** Each persona's summary and outputs. */
function ReviewResults({ results }: Pick<Review, "results">) {
  return (
    <section className="review-results" aria-label="Results">
      {results.map(({ persona, summary, outputs }) => (
        <div key={persona}>
          <h3>{persona}</h3>
          {summary === "" ? null : <LongText text={summary} />}
          {Object.keys(outputs).length === 0 ? null : (
            <pre
              className="code-block outside"
              role="region"
              aria-label={`Outputs of ${persona}`}
              tabIndex={0}
            >
              {plainText(JSON.stringify(outputs, null, 2))}
            </pre>
          )}
        </div>
      ))}
    </section>
  );
}
