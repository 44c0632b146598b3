import { useEffect, useMemo, useState } from "react";
import { blobPath } from "../api/client.ts";
import type { ArtifactTree } from "../api/types.ts";
import { bytes, counted } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { CopyButton } from "../ui/copy.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { Waiting } from "../ui/loading.tsx";
import { CodeLines } from "./code-lines.tsx";
import type { Token } from "./highlight.ts";
import { linesOf, mostShownBytes, useText } from "./text.ts";
import { highlightText } from "./text-work.ts";

type File = ArtifactTree["files"][number];

export function FilePane({ file }: { readonly file: File }) {
  const tooLarge = file.bytes > mostShownBytes || file.binary;
  return (
    <>
      <FileHead file={file} />
      {tooLarge ? <NotShown file={file} /> : <FileText file={file} />}
    </>
  );
}

function FileHead({ file }: { readonly file: File }) {
  const { view } = useScene();
  return (
    <header className="file-head">
      <h2 className="mono one-line outside">{oneLine(file.path)}</h2>
      <span className="ink-3">
        {bytes(file.bytes)}
        {file.persona === null ? "" : `, by ${file.persona}`}
        {file.phase === null ? "" : ` in ${file.phase}`}
      </span>
      <span className="spring" />
      <span className="mono ink-3" title={file.sha256}>
        {file.sha256.slice(0, 12)}
      </span>
      <CopyButton text={file.sha256} label="Copy the hash" />
      <a
        className="button small"
        href={blobPath(view.id, file.sha256)}
        download={file.path.split("/").at(-1)}
      >
        <Icon name="download" size={13} />
        Download
      </a>
    </header>
  );
}

/** For files that are binary or too large for a page. */
function NotShown({ file }: { readonly file: Pick<File, "bytes" | "binary" | "sha256"> }) {
  return (
    <div className="page-part not-shown">
      <p className="ink-2">{file.binary ? "Not text." : "Too large to show here."}</p>
      <dl className="facts">
        <dt>Size</dt>
        <dd>{bytes(file.bytes)}</dd>
        <dt>SHA-256</dt>
        <dd className="mono">{file.sha256}</dd>
      </dl>
    </div>
  );
}

function FileText({ file }: { readonly file: File }) {
  const { view } = useScene();
  const { data, error, refetch } = useText(view.id, file.sha256);
  const lines = useMemo(() => linesOf(data?.text ?? ""), [data]);
  const [tokens, setTokens] = useState<readonly (readonly Token[])[]>();
  useEffect(() => {
    let current = true;
    void highlightText(lines, file.path).then((answer) => {
      if (current) setTokens(answer);
    });
    return () => {
      current = false;
    };
  }, [lines, file.path]);
  if (error !== null)
    return (
      <div className="page-part">
        <ErrorNotice what="Could not read the file." error={error} onRetry={() => void refetch()} />
      </div>
    );
  if (data === undefined) return <Waiting rows={8} onRetry={() => void refetch()} />;
  if (data.text === undefined) return <NotShown file={{ ...file, binary: true }} />;
  if (lines.length === 0) return <p className="page-part ink-2">The file is empty.</p>;
  return (
    <CodeLines
      lines={lines}
      tokens={tokens}
      label={`${oneLine(file.path)}, ${counted(lines.length, "line")}`}
    />
  );
}
