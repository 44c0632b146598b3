import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { client } from "../api/client.ts";
import type { Edits } from "../api/types.ts";
import { type SessionPanel, useScene } from "../session/context.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { editedParts } from "./edited-parts.ts";
import FileEditor from "./file-editor.tsx";
import { PlanView } from "./plan-view.tsx";
import { ConfirmButton } from "./signal-panel.tsx";

interface Props {
  readonly panel: Extract<SessionPanel, { kind: "edit" }>;
  readonly onClose: () => void;
}

/** First the edit, then the plan with its price, then the button that seals and resumes. */
export default function EditPanel({ panel, onClose }: Props) {
  const { view } = useScene();
  const [edits, setEdits] = useState<Edits>();
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint !== null).map(({ name }) => name);
  if (edits === undefined)
    return (
      <FileEditor
        phases={sealed}
        phase={panel.phase}
        path={panel.path}
        onClose={onClose}
        onSave={(phase, edit) => setEdits({ [phase]: edit })}
      />
    );
  return <SealPanel edits={edits} onClose={onClose} />;
}

function SealPanel({ edits, onClose }: { readonly edits: Edits; readonly onClose: () => void }) {
  const { view, send, pending, stale } = useScene();
  const plan = useQuery({
    queryKey: ["plan", "resume", view.id, view.entries, { edits }],
    queryFn: ({ signal }) => client.planResume(view.id, { edits }, signal),
    placeholderData: keepPreviousData,
  });
  const [phase = ""] = Object.keys(edits);
  const what = Object.values(edits).flatMap(editedParts).join(", ");
  const revision = (view.phases.find(({ name }) => name === phase)?.checkpoint?.revision ?? 1) + 1;
  const blocked = stale || pending.kind === "sending";
  const seal = async () => {
    if (await send("Sealing the edit…", "Could not resume.", () => client.resume(view.id, { edits })))
      onClose();
  };
  return (
    <Dialog title="Seal the edit and resume" kind="side" onClose={onClose}>
      <p className="ink-2">
        Seals {what} as {phase}, revision {revision}. Revision {revision - 1} is kept.
      </p>
      <PlanView query={plan} />
      {pending.kind === "failed" ? <ErrorNotice what={pending.what} error={pending.error} /> : null}
      <div className="dialog-actions">
        <ConfirmButton blocked={blocked} act={seal}>
          <Icon name="play" size={14} />
          {pending.kind === "sending" ? pending.label : "Seal edit and resume"}
        </ConfirmButton>
      </div>
    </Dialog>
  );
}
