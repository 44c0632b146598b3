import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useId, useState } from "react";
import { treeQuery } from "../api/queries.ts";
import type { ArtifactTree } from "../api/types.ts";
import { mostShownBytes } from "../artifacts/decode.ts";
import { useText } from "../artifacts/use-text.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { applyEdits } from "../stopped/apply-edits.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Loaded, Waiting } from "../ui/loading.tsx";

const DiffView = lazy(() => import("../artifacts/diff-view.tsx"));

interface Props {
  /** Phases whose files may be changed. */
  readonly phases: readonly string[];
  readonly phase?: string | undefined;
  readonly path?: string | undefined;
  readonly onClose: () => void;
  readonly onSave: (phase: string, path: string, content: string) => void;
}

/** Choose a file of a sealed phase, change it, see the difference, keep it. Nothing is sent from here. */
export default function FileEditor({ phases, phase: given, path: wanted, onClose, onSave }: Props) {
  const { view } = useScene();
  const [phase, setPhase] = useState(given ?? phases.at(-1) ?? "");
  const tree = useQuery(treeQuery(view.id, `phase:${phase}`));
  const id = useId();
  return (
    <Dialog title="Edit a file" kind="side" onClose={onClose}>
      <div className="form editor">
        <div className="form-field">
          <label htmlFor={`${id}-phase`}>Phase</label>
          <select
            id={`${id}-phase`}
            className="field"
            data-first
            value={phase}
            onChange={(event) => setPhase(event.target.value)}
          >
            {phases.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <Loaded query={tree} failed="Could not read the files.">
          {({ files }) => (
            <ChosenFile
              key={phase}
              files={files.filter((file) => !file.binary && file.bytes <= mostShownBytes)}
              phase={phase}
              wanted={wanted}
              onSave={(path, text) => onSave(phase, path, text)}
            />
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}

interface ChosenProps {
  readonly files: ArtifactTree["files"];
  readonly phase: string;
  readonly wanted: string | undefined;
  readonly onSave: (path: string, content: string) => void;
}

function ChosenFile({ files, phase, wanted, onSave }: ChosenProps) {
  const own = files.filter((file) => file.phase === phase);
  const first = files.find((file) => file.path === wanted) ?? own[0] ?? files[0];
  const [path, setPath] = useState(first?.path ?? "");
  const file = files.find((each) => each.path === path);
  const id = useId();
  if (file === undefined) return <p className="ink-2">This phase left no text that could be edited.</p>;
  return (
    <>
      <div className="form-field">
        <label htmlFor={id}>File</label>
        <select id={id} className="field mono" value={path} onChange={(event) => setPath(event.target.value)}>
          {files.map((each) => (
            <option key={each.path} value={each.path}>
              {oneLine(each.path)}
            </option>
          ))}
        </select>
      </div>
      <Content key={file.sha256} file={file} onSave={onSave} />
    </>
  );
}

interface ContentProps {
  readonly file: ArtifactTree["files"][number];
  readonly onSave: (path: string, content: string) => void;
}

function Content({ file, onSave }: ContentProps) {
  const { view } = useScene();
  const { data, error, refetch } = useText(view.id, file.sha256);
  const [typed, setTyped] = useState<string>();
  const id = useId();
  if (error !== null)
    return <ErrorNotice what="Could not read the file." error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Waiting rows={5} onRetry={() => void refetch()} />;
  if (data.text === undefined) return <p className="ink-2">Not text.</p>;
  const original = data.text;
  // What a persona proposed for this very file is filled in; it can be changed or taken back.
  const suggested = view.stop?.suggestedEdit;
  const proposed = suggested?.sha256 === file.sha256 ? applyEdits(original, suggested.edits) : undefined;
  const text = typed ?? proposed ?? original;
  const changed = text !== original;
  return (
    <>
      <div className="form-field">
        <label htmlFor={id}>Content</label>
        <textarea
          id={id}
          className="field mono editor-text"
          rows={16}
          spellCheck={false}
          wrap="off"
          value={text}
          onChange={(event) => setTyped(event.target.value)}
        />
      </div>
      {changed ? (
        <Suspense>
          <DiffView before={original} after={text} path={file.path} short />
        </Suspense>
      ) : (
        <p className="ink-3">Nothing is changed yet.</p>
      )}
      <div className="dialog-actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!changed}
          onClick={changed ? () => onSave(file.path, text) : undefined}
        >
          Keep this edit
        </button>
        <span className="ink-2">Nothing is sealed or run yet.</span>
      </div>
    </>
  );
}
