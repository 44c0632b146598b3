interface Props {
  readonly id: string;
  readonly value: string;
  readonly placeholder: string;
  readonly error: string | undefined;
  /** Takes the focus when its dialog opens. */
  readonly first?: boolean;
  readonly onChange: (note: string) => void;
}

/** The note of a review, and the reason why it cannot be sent yet. */
export function NoteField({ id, value, placeholder, error, first = false, onChange }: Props) {
  return (
    <div className="form-field">
      <label htmlFor={id}>Note</label>
      <textarea
        id={id}
        className="field"
        rows={3}
        data-first={first ? true : undefined}
        value={value}
        placeholder={placeholder}
        aria-invalid={error !== undefined}
        aria-describedby={error === undefined ? undefined : `${id}-error`}
        onChange={(event) => onChange(event.target.value)}
      />
      {error === undefined ? null : (
        <p id={`${id}-error`} className="field-error" role="alert">
          {error}
        </p>
      )}
    </div>
  );
}
