import { useId, useState } from "react";
import { client } from "../api/client.ts";
import { moneyRange } from "../format/money.ts";
import { useScene } from "../session/context.ts";
import { lostReason } from "../shell/connection-view.tsx";
import { CommandLine } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";

interface Props {
  readonly word: "approve" | "reject";
  readonly onClose: () => void;
}

const words = {
  approve: { title: "Approve", label: "Approving…", failed: "Could not approve." },
  reject: { title: "Reject", label: "Rejecting…", failed: "Could not reject." },
} as const;

/** What the keys a and x open: the word is said only by its button. */
export default function ReviewPanel({ word, onClose }: Props) {
  const { view, speak, pending, stale } = useScene();
  const [note, setNote] = useState("");
  const [error, setError] = useState<string>();
  const id = useId();
  const { title, label, failed } = words[word];
  const phase = view.review?.phase ?? "";
  const blocked = stale || pending.kind === "sending";
  const say = async () => {
    const text = note.trim();
    if (word === "reject" && text === "") return setError("Say what has to change.");
    const body = { ...(text !== "" && { note: text }), resume: true };
    const call = () => (word === "approve" ? client.approve(view.id, body) : client.reject(view.id, body));
    if (await speak(label, failed, call)) onClose();
  };
  return (
    <Dialog title={`${title} ${phase}`} onClose={onClose}>
      <div className="form word-panel">
        <p>
          {word === "approve" ? "The session goes on" : `${phase} runs again with your note`}
          {view.forecast === null ? "." : `, ${moneyRange(view.forecast)} to the end.`}
        </p>
        <div className="form-field">
          <label htmlFor={id}>Note</label>
          <textarea
            id={id}
            className="field"
            rows={3}
            data-first
            value={note}
            placeholder={word === "reject" ? "What has to change" : "Optional"}
            aria-invalid={error !== undefined}
            aria-describedby={error === undefined ? undefined : `${id}-error`}
            onChange={(event) => setNote(event.target.value)}
          />
          {error === undefined ? null : (
            <p id={`${id}-error`} className="field-error" role="alert">
              {error}
            </p>
          )}
        </div>
        {pending.kind === "failed" ? <ErrorNotice what={pending.what} error={pending.error} /> : null}
        <div className="dialog-actions">
          <button
            type="button"
            className="button primary"
            aria-disabled={blocked}
            title={stale ? lostReason : undefined}
            onClick={blocked ? undefined : () => void say()}
          >
            {pending.kind === "sending" ? label : title}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Not now
          </button>
        </div>
        <CommandLine
          command={`maestro ${word} ${view.key ?? view.id}${word === "reject" ? " --note ..." : ""}`}
        />
      </div>
    </Dialog>
  );
}
