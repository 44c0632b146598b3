import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { personaQuery, treeQuery } from "../api/queries.ts";
import type { ArtifactTree, PhaseEdit } from "../api/types.ts";
import { mostShownBytes, useText } from "../artifacts/text.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Loaded, Waiting } from "../ui/loading.tsx";
import { TextEditor } from "./text-editor.tsx";

interface Props {
  /** Phases whose files and outputs may be changed. */
  readonly phases: readonly string[];
  readonly phase?: string | undefined;
  readonly path?: string | undefined;
  readonly onClose: () => void;
  readonly onSave: (phase: string, edit: PhaseEdit) => void;
}

/**
 * Lets a person choose a file or an output of a sealed phase, change it, see the difference and keep it. Sends
 * nothing.
 */
export default function FileEditor({ phases, phase: given, path: wanted, onClose, onSave }: Props) {
  const { view } = useScene();
  const [phase, setPhase] = useState(given ?? phases.at(-1) ?? "");
  const tree = useQuery(treeQuery(view.id, `phase:${phase}`));
  const personas = view.phases.find(({ name }) => name === phase)?.personas ?? [];
  const id = useId();
  return (
    <Dialog title="Edit what a phase left" kind="side" onClose={onClose}>
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
            <ChosenPart
              key={phase}
              files={files.filter((file) => !file.binary && file.bytes <= mostShownBytes)}
              personas={personas.map(({ name }) => name)}
              phase={phase}
              wanted={wanted}
              onSave={(edit) => onSave(phase, edit)}
            />
          )}
        </Loaded>
      </div>
    </Dialog>
  );
}

interface ChosenProps {
  readonly files: ArtifactTree["files"];
  readonly personas: readonly string[];
  readonly phase: string;
  readonly wanted: string | undefined;
  readonly onSave: (edit: PhaseEdit) => void;
}

function ChosenPart({ files, personas, phase, wanted, onSave }: ChosenProps) {
  const own = files.filter((file) => file.phase === phase);
  const first = files.find((file) => file.path === wanted) ?? own[0] ?? files[0];
  const [part, setPart] = useState(first === undefined ? `outputs ${personas[0]}` : `file ${first.path}`);
  const file = files.find(({ path }) => part === `file ${path}`);
  const persona = personas.find((name) => part === `outputs ${name}`);
  const id = useId();
  return (
    <>
      <div className="form-field">
        <label htmlFor={id}>What</label>
        <select id={id} className="field mono" value={part} onChange={(event) => setPart(event.target.value)}>
          {files.map(({ path }) => (
            <option key={path} value={`file ${path}`}>
              {oneLine(path)}
            </option>
          ))}
          {personas.map((name) => (
            <option key={name} value={`outputs ${name}`}>
              Outputs of {name}
            </option>
          ))}
        </select>
      </div>
      {file !== undefined ? (
        <FileContent
          key={file.sha256}
          file={file}
          onSave={(text) => onSave({ files: { [file.path]: text } })}
        />
      ) : persona !== undefined ? (
        <Outputs
          key={persona}
          phase={phase}
          persona={persona}
          onSave={(outputs) => onSave({ outputs: { [persona]: outputs } })}
        />
      ) : null}
    </>
  );
}

interface FileProps {
  readonly file: ArtifactTree["files"][number];
  readonly onSave: (content: string) => void;
}

function FileContent({ file, onSave }: FileProps) {
  const { view } = useScene();
  const { data, error, refetch } = useText(view.id, file.sha256);
  if (error !== null)
    return <ErrorNotice what="Could not read the file." error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Waiting rows={5} onRetry={() => void refetch()} />;
  if (data.text === undefined) return <p className="ink-2">Not text.</p>;
  return <TextEditor original={data.text} path={file.path} onSave={onSave} />;
}

interface OutputsProps {
  readonly phase: string;
  readonly persona: string;
  readonly onSave: (outputs: Readonly<Record<string, unknown>>) => void;
}

function Outputs({ phase, persona, onSave }: OutputsProps) {
  const { view } = useScene();
  const query = useQuery(personaQuery(view.id, phase, persona));
  return (
    <Loaded query={query} failed="Could not read the outputs.">
      {({ result }) => (
        <TextEditor
          original={JSON.stringify(result?.outputs ?? {}, null, 2)}
          path="outputs.json"
          check={(text) => (parseObject(text) === undefined ? "This is not a JSON object." : undefined)}
          onSave={(text) => onSave(parseObject(text) ?? {})}
        />
      )}
    </Loaded>
  );
}

function parseObject(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const parsed = JSON.parse(text) as unknown;
    const isObject = typeof parsed === "object" && parsed !== null && !Array.isArray(parsed);
    return isObject ? (parsed as Readonly<Record<string, unknown>>) : undefined;
  } catch {
    return undefined;
  }
}
