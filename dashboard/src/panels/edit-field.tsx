import { lazy, Suspense, useState } from "react";
import type { Edits } from "../api/types.ts";
import { Icon } from "../ui/icons.tsx";
import { editedParts, mergeEdits, withoutPart } from "./edited-parts.ts";

const FileEditor = lazy(() => import("./file-editor.tsx"));

interface Props {
  /** Phases whose files may be changed. */
  readonly phases: readonly string[];
  readonly edits: Edits;
  readonly onEdits: (edits: Edits) => void;
}

/** "with 1 edit": files and outputs of sealed phases, changed before anything runs. */
export function EditField({ phases, edits, onEdits }: Props) {
  const [editing, setEditing] = useState(false);
  const parts = Object.entries(edits).flatMap(([phase, edit]) =>
    editedParts(edit).map((part) => ({ phase, part })),
  );
  const drop = (phase: string, part: string) => {
    const { [phase]: edit = {}, ...others } = edits;
    const left = withoutPart(edit, part);
    onEdits(left === undefined ? others : { ...others, [phase]: left });
  };
  return (
    <div className="form-field">
      <span className="form-label">Edits</span>
      {parts.map(({ phase, part }) => (
        <div key={`${phase} ${part}`} className="edit-entry">
          <Icon name="pencil" size={14} />
          <span className="mono one-line outside">{part}</span>
          <span className="ink-3">{phase}</span>
          <span className="spring" />
          <button type="button" className="link" onClick={() => drop(phase, part)}>
            Remove
          </button>
        </div>
      ))}
      <button type="button" className="button small edit-add" onClick={() => setEditing(true)}>
        <Icon name="pencil" size={13} />
        {parts.length === 0 ? "Edit a file or an output…" : "Edit another…"}
      </button>
      {editing ? (
        <Suspense>
          <FileEditor
            phases={phases}
            onClose={() => setEditing(false)}
            onSave={(phase, edit) => {
              setEditing(false);
              onEdits({ ...edits, [phase]: mergeEdits(edits[phase], edit) });
            }}
          />
        </Suspense>
      ) : null}
    </div>
  );
}
