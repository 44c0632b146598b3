import { lazy, Suspense, useState } from "react";
import type { Edits } from "../api/types.ts";
import { Icon } from "../ui/icons.tsx";

const FileEditor = lazy(() => import("./file-editor.tsx"));

interface Props {
  /** Phases whose files may be changed. */
  readonly phases: readonly string[];
  readonly edits: Edits;
  readonly onEdits: (edits: Edits) => void;
}

/** "with 1 edit": files of sealed phases, changed before anything runs. */
export function EditField({ phases, edits, onEdits }: Props) {
  const [editing, setEditing] = useState(false);
  const files = Object.entries(edits).flatMap(([phase, { files = {} }]) =>
    Object.keys(files).map((path) => ({ phase, path })),
  );
  const drop = (phase: string, path: string) => {
    const { [path]: _gone, ...rest } = edits[phase]?.files ?? {};
    const { [phase]: _phase, ...others } = edits;
    onEdits(Object.keys(rest).length === 0 ? others : { ...others, [phase]: { files: rest } });
  };
  return (
    <div className="form-field">
      <span className="form-label">Edits</span>
      {files.map(({ phase, path }) => (
        <div key={`${phase} ${path}`} className="edit-entry">
          <Icon name="pencil" size={14} />
          <span className="mono one-line outside">{path}</span>
          <span className="ink-3">{phase}</span>
          <span className="spring" />
          <button type="button" className="link" onClick={() => drop(phase, path)}>
            Remove
          </button>
        </div>
      ))}
      <button type="button" className="button small edit-add" onClick={() => setEditing(true)}>
        <Icon name="pencil" size={13} />
        {files.length === 0 ? "Edit a file…" : "Edit another file…"}
      </button>
      {editing ? (
        <Suspense>
          <FileEditor
            phases={phases}
            onClose={() => setEditing(false)}
            onSave={(phase, path, content) => {
              setEditing(false);
              onEdits({ ...edits, [phase]: { files: { ...edits[phase]?.files, [path]: content } } });
            }}
          />
        </Suspense>
      ) : null}
    </div>
  );
}
