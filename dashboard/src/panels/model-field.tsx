import { useQuery } from "@tanstack/react-query";
import { useId } from "react";
import { teamsQuery } from "../api/queries.ts";
import { FormField } from "../ui/form-field.tsx";

interface Props {
  readonly value: string;
  readonly placeholder: string;
  readonly hint?: string;
  readonly error: string | undefined;
  /** The panel was opened for this field. */
  readonly first?: boolean;
  readonly onChange: (model: string) => void;
}

/** A model name, with the usable models as suggestions. */
export function ModelField({ value, placeholder, hint = "", error, first = false, onChange }: Props) {
  const { data } = useQuery(teamsQuery);
  const list = useId();
  return (
    <FormField name="model" label="Model" error={error} hint={hint}>
      {(props) => (
        <>
          <input
            {...props}
            {...(first && { "data-first": true })}
            className="field"
            list={list}
            placeholder={placeholder}
            value={value}
            onChange={(event) => onChange(event.target.value)}
          />
          <datalist id={list}>
            {data?.models.map((model) => (
              <option key={model}>{model}</option>
            ))}
          </datalist>
        </>
      )}
    </FormField>
  );
}
