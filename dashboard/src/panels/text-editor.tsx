import { lazy, Suspense, useId, useState } from "react";

const DiffView = lazy(() => import("../artifacts/diff-view.tsx"));

interface Props {
  readonly original: string;
  /** Determines the colors and the title of the difference. */
  readonly path: string;
  /** The problem of a text; undefined when it has none. */
  readonly check?: (text: string) => string | undefined;
  readonly onSave: (text: string) => void;
}

/** A text and its differences from the original. */
export function TextEditor({ original, path, check, onSave }: Props) {
  const [text, setText] = useState(original);
  const id = useId();
  const changed = text !== original;
  const wrong = check?.(text);
  const canKeep = changed && wrong === undefined;
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
          aria-invalid={wrong !== undefined}
          aria-describedby={wrong === undefined ? undefined : `${id}-error`}
          onChange={(event) => setText(event.target.value)}
        />
        {wrong === undefined ? null : (
          <p id={`${id}-error`} className="field-error" role="alert">
            {wrong}
          </p>
        )}
      </div>
      {changed ? (
        <Suspense>
          <DiffView before={original} after={text} path={path} short />
        </Suspense>
      ) : (
        <p className="ink-3">Nothing is changed yet.</p>
      )}
      <div className="dialog-actions">
        <button
          type="button"
          className="button primary"
          aria-disabled={!canKeep}
          onClick={canKeep ? () => onSave(text) : undefined}
        >
          Keep this edit
        </button>
        <span className="ink-2">Nothing is sealed or run yet.</span>
      </div>
    </>
  );
}
