import { useId, useState } from "react";
import { client } from "../api/client.ts";
import { moneyRange } from "../format/money.ts";
import { CommentList } from "../review/comment-list.tsx";
import { noteWith, useComments } from "../review/comments.ts";
import { reviewCommand } from "../sentences/review-command.ts";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandThenResume } from "../stopped/advice-list.tsx";
import { NoteField } from "../ui/note-field.tsx";
import { SignalPanel } from "./signal-panel.tsx";

interface Props {
  readonly word: "approve" | "reject";
  readonly onClose: () => void;
}

const words = {
  approve: { button: "Approve", label: "Approving…", failed: "Could not approve." },
  reject: { button: "Reject", label: "Rejecting…", failed: "Could not reject." },
} as const;

/** The dialog of the keys a and x. Only its button sends the decision. */
export default function ReviewPanel({ word, onClose }: Props) {
  const { view } = useScene();
  const command = useCommand();
  const [note, setNote] = useState("");
  const [error, setError] = useState<string>();
  const id = useId();
  const phase = view.review?.phase ?? "";
  const comments = useComments(view.id, phase, view.review?.revision ?? 0);
  // Comments request changes, so an approval does not send them.
  const text = word === "reject" ? noteWith(note, comments.list) : note.trim();
  const [repeats, setRepeats] = useState(false);
  const repeated =
    word === "approve"
      ? []
      : view.effects.filter((effect) => effect.phase === phase && effect.state === "happened");
  const call = () => {
    const body = { phase, ...(text !== "" && { note: text }), resume: true };
    if (word === "approve") return client.approve(view.id, body);
    return client.reject(view.id, { ...body, ...(repeats && { repeatEffects: true }) }).then(comments.clear);
  };
  const isIncomplete = () => {
    const missing = word === "reject" && text === "";
    setError(missing ? "Say what has to change." : undefined);
    return missing;
  };
  return (
    <SignalPanel
      {...words[word]}
      title={`${words[word].button} ${phase}`}
      leave="Not now"
      isIncomplete={isIncomplete}
      call={call}
      onClose={onClose}
    >
      <p>
        {word === "approve" ? "The session resumes" : `${phase} runs again with your note`}
        {view.forecast === null ? "." : `, ${moneyRange(view.forecast)} to the end.`}
      </p>
      <NoteField
        id={id}
        first
        value={note}
        placeholder={word === "reject" ? "The change you want" : "Optional"}
        error={error}
        onChange={setNote}
      />
      {repeated.length === 0 ? null : (
        <label className="check-line">
          <input type="checkbox" checked={repeats} onChange={(event) => setRepeats(event.target.checked)} />
          Repeat effects that happened: {repeated.map(({ name }) => name).join(", ")}
        </label>
      )}
      {word === "reject" ? <CommentList comments={comments} /> : null}
      <CommandThenResume first={reviewCommand(command, view, word, phase, text)} />
    </SignalPanel>
  );
}
