import { type ReactNode, useId } from "react";

interface Props {
  readonly name: string;
  readonly label: string;
  readonly hint?: string;
  readonly error: string | undefined;
  readonly children: (props: {
    readonly id: string;
    readonly "data-field": string;
    readonly "aria-invalid": boolean;
    readonly "aria-describedby": string | undefined;
  }) => ReactNode;
}

/** Shows the error at its field. */
export function FormField({ name, label, hint = "", error, children }: Props) {
  const id = useId();
  const described = error !== undefined || hint !== "" ? `${id}-note` : undefined;
  return (
    <div className="form-field">
      <label htmlFor={id}>{label}</label>
      {children({
        id,
        "data-field": name,
        "aria-invalid": error !== undefined,
        "aria-describedby": described,
      })}
      {error !== undefined ? (
        <span id={`${id}-note`} className="field-error" role="alert">
          {error}
        </span>
      ) : hint === "" ? null : (
        <span id={`${id}-note`} className="hint">
          {hint}
        </span>
      )}
    </div>
  );
}
