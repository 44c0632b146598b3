import { blobPath } from "../api/client.ts";
import { bytes } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { Waiting } from "../ui/loading.tsx";
import type { TreeChange } from "./compare-trees.ts";
import DiffView, { type Pointing } from "./diff-view.tsx";
import { mostShownBytes, useText } from "./text.ts";

export default function ChangePane({ change }: { readonly change: TreeChange }) {
  const { before, after, kind, path } = change;
  const large = [before, after].some(
    (file) => file !== undefined && (file.binary || file.bytes > mostShownBytes),
  );
  return (
    <>
      <header className="file-head">
        <h2 className="mono one-line outside">{oneLine(path)}</h2>
        <span className={`change-word ${kind}`}>{kind}</span>
      </header>
      {large ? (
        <NotCompared before={before} after={after} path={path} />
      ) : (
        <BlobDiff before={before?.sha256 ?? null} after={after?.sha256 ?? null} path={path} />
      )}
    </>
  );
}

interface Side {
  readonly sha256: string;
  readonly bytes: number;
}

interface NotComparedProps {
  readonly before: Side | undefined;
  readonly after: Side | undefined;
  readonly path: string;
}

/** A binary or large file: offers the current version for download. */
function NotCompared({ before, after, path }: NotComparedProps) {
  const { view } = useScene();
  const now = after ?? before;
  return (
    <div className="page-part not-shown">
      <p className="ink-2">
        Not compared: binary or over 1 MB. {before === undefined ? "" : `Before ${bytes(before.bytes)}. `}
        {after === undefined ? "" : `After ${bytes(after.bytes)}.`}
      </p>
      {now === undefined ? null : (
        <p>
          <a className="button small" href={blobPath(view.id, now.sha256)} download={path.split("/").at(-1)}>
            <Icon name="download" size={13} />
            Download
          </a>
        </p>
      )}
    </div>
  );
}

interface BlobDiffProps {
  readonly before: string | null;
  readonly after: string | null;
  readonly path: string;
  readonly short?: boolean;
  /** Lines with comments, and the action of a click on a line number. */
  readonly marked?: Pointing["marked"];
  readonly onPoint?: Pointing["onPoint"];
}

/** Compares two artifacts by their hashes. */
export function BlobDiff({ before, after, path, short = false, marked = [], onPoint }: BlobDiffProps) {
  const { view } = useScene();
  const old = useText(view.id, before);
  const now = useText(view.id, after);
  const error = old.error ?? now.error;
  const retry = () => {
    void old.refetch();
    void now.refetch();
  };
  if (error !== null)
    return (
      <div className="page-part">
        <ErrorNotice what="Could not read the files." error={error} onRetry={retry} />
      </div>
    );
  if (old.data === undefined || now.data === undefined) return <Waiting rows={6} onRetry={retry} />;
  if (old.data.text === undefined || now.data.text === undefined) {
    const side = (sha256: string | null, size: number) =>
      sha256 === null ? undefined : { sha256, bytes: size };
    return (
      <NotCompared before={side(before, old.data.bytes)} after={side(after, now.data.bytes)} path={path} />
    );
  }
  return (
    <DiffView
      before={old.data.text}
      after={now.data.text}
      path={path}
      short={short}
      pointing={onPoint === undefined ? undefined : { marked, onPoint }}
    />
  );
}
