import { useId } from "react";
import { bytes, counted } from "../format/count.ts";
import { FormField } from "../ui/form-field.tsx";
import { type SourceForm, type SourceKind, sourceKinds } from "./source-form.ts";

interface Props {
  readonly value: SourceForm;
  readonly roots: readonly string[];
  readonly phases: readonly string[];
  readonly refused: ReadonlyMap<string, string>;
  readonly onChange: (value: SourceForm) => void;
}

const words: Readonly<Record<SourceKind, string>> = {
  none: "No files",
  repository: "A repository",
  upload: "An archive",
  given: "Output of a phase",
};

/** Fields for the session's initial files. */
export function SourceFields(props: Props) {
  const { value, onChange } = props;
  const name = useId();
  return (
    <fieldset className="source-choice">
      <legend className="form-label">Begin with</legend>
      <div className="source-kinds">
        {sourceKinds.map((kind) => (
          <label key={kind} className="check-line radio-line">
            <input
              type="radio"
              name={name}
              checked={value.kind === kind}
              onChange={() => onChange({ ...value, kind })}
            />
            {words[kind]}
          </label>
        ))}
      </div>
      {value.kind === "repository" ? <RepositoryFields {...props} /> : null}
      {value.kind === "upload" ? <UploadField {...props} /> : null}
      {value.kind === "given" ? <GivenFields {...props} /> : null}
    </fieldset>
  );
}

function RepositoryFields({ value, roots, refused, onChange }: Props) {
  const list = useId();
  if (roots.length === 0)
    return (
      <p className="ink-2">
        This server takes no repositories. Start it with --repo-root, or send an archive.
      </p>
    );
  return (
    <div className="form-pair">
      <FormField
        name="source.git"
        label="Repository"
        error={refused.get("source.git")}
        hint={`In ${roots.join(" or ")}`}
      >
        {(field) => (
          <>
            <input
              {...field}
              className="field mono"
              list={list}
              placeholder={roots[0]}
              value={value.git}
              onChange={(event) => onChange({ ...value, git: event.target.value })}
            />
            <datalist id={list}>
              {roots.map((root) => (
                <option key={root} value={root}>
                  {root}
                </option>
              ))}
            </datalist>
          </>
        )}
      </FormField>
      <FormField name="source.ref" label="Branch, tag or commit" error={refused.get("source.ref")}>
        {(field) => (
          <input
            {...field}
            className="field mono"
            placeholder="the files on the disk"
            value={value.ref}
            onChange={(event) => onChange({ ...value, ref: event.target.value })}
          />
        )}
      </FormField>
    </div>
  );
}

function UploadField({ value, refused, onChange }: Props) {
  return (
    <FormField
      name="upload"
      label="Archive"
      error={refused.get("upload")}
      hint={
        value.archive === undefined
          ? "A tar.gz or zip. Secrets, .git and node_modules in it are left out."
          : bytes(value.archive.size)
      }
    >
      {(field) => (
        <input
          {...field}
          type="file"
          className="field"
          accept=".tgz,.gz,.zip,application/gzip,application/zip"
          onChange={(event) => onChange({ ...value, archive: event.target.files?.[0] })}
        />
      )}
    </FormField>
  );
}

function GivenFields({ value, phases, refused, onChange }: Props) {
  return (
    <div className="form-pair">
      <FormField name="given.phase" label="Phase" error={refused.get("given.phase")}>
        {(field) => (
          <select
            {...field}
            className="field"
            value={value.phase}
            onChange={(event) => onChange({ ...value, phase: event.target.value })}
          >
            <option value="">choose</option>
            {phases.map((phase) => (
              <option key={phase}>{phase}</option>
            ))}
          </select>
        )}
      </FormField>
      <FormField
        name="given"
        label="Its files"
        error={refused.get("given")}
        hint={value.files.length === 0 ? "The phase does not run." : counted(value.files.length, "file")}
      >
        {(field) => (
          <input
            {...field}
            type="file"
            multiple
            className="field"
            onChange={(event) => onChange({ ...value, files: [...(event.target.files ?? [])] })}
          />
        )}
      </FormField>
    </div>
  );
}
