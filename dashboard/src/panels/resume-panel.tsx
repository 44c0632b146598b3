import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import type { Edits } from "../api/types.ts";
import { money } from "../format/money.ts";
import { commandName, editFlags } from "../format/shell-command.ts";
import { useScene } from "../session/context.ts";
import { nameOf } from "../sessions/row.tsx";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { NoteField } from "../ui/note-field.tsx";
import { EditField } from "./edit-field.tsx";
import { PlanView } from "./plan-view.tsx";
import { ConfirmButton } from "./signal-panel.tsx";

export default function ResumePanel({ onClose }: { readonly onClose: () => void }) {
  const { view, stale, send, pending } = useScene();
  const command = useCommand();
  const [edits, setEdits] = useState<Edits>({});
  const needsAcceptance = view.situation.kind === "failed" && view.situation.acceptChanges;
  const [acceptChanges, setAcceptChanges] = useState(false);
  const edited = Object.keys(edits).length > 0;
  const [note, setNote] = useState("");
  const said = note.trim();
  const request = {
    ...(edited && { edits }),
    ...(acceptChanges && { acceptChanges }),
    ...(said !== "" && { note: said }),
  };
  const plan = useQuery({
    // A note changes no plan.
    queryKey: ["plan", "resume", view.id, view.entries, { ...request, note: undefined }],
    queryFn: ({ signal }) => client.planResume(view.id, { ...request, note: undefined }, signal),
    placeholderData: keepPreviousData,
  });
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint !== null).map(({ name }) => name);
  const most = plan.data?.total?.highUsd;
  const blocked = stale || pending.kind === "sending" || (needsAcceptance && !acceptChanges);
  const resume = async () => {
    const heard = await send("Resuming…", "Could not resume.", () => client.resume(view.id, request));
    if (heard) onClose();
  };
  return (
    <Dialog title={`Resume ${nameOf(view)}`} kind="side" onClose={onClose}>
      <p className="ink-2">Resumes to the end. Recorded work is not paid again.</p>
      <div className="form">
        <NoteField
          id="resume-note"
          value={note}
          placeholder="For the next attempts of what is unfinished"
          error={undefined}
          onChange={setNote}
        />
        <EditField phases={sealed} edits={edits} onEdits={setEdits} />
        {needsAcceptance ? (
          <label className="check-line">
            <input
              type="checkbox"
              checked={acceptChanges}
              onChange={(event) => setAcceptChanges(event.target.checked)}
            />
            Accept what has changed in the team (--accept-changes)
          </label>
        ) : null}
        <PlanView query={plan} />
        {pending.kind === "failed" ? <ErrorNotice what={pending.what} error={pending.error} /> : null}
        <div className="dialog-actions">
          <ConfirmButton blocked={blocked} act={resume}>
            <Icon name="play" size={14} />
            {pending.kind === "sending"
              ? pending.label
              : most === undefined
                ? "Resume"
                : `Resume, up to ${money(most)}`}
          </ConfirmButton>
        </div>
      </div>
      <CommandLine
        command={command(
          "resume",
          commandName(view),
          ...editFlags(Object.keys(edits)),
          acceptChanges && "--accept-changes",
          ...(said === "" ? [] : ["--note", said]),
        )}
      />
    </Dialog>
  );
}
