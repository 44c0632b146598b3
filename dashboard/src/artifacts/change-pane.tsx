import { bytes } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Waiting } from "../ui/loading.tsx";
import type { TreeChange } from "./compare-trees.ts";
import { mostShownBytes } from "./decode.ts";
import DiffView from "./diff-view.tsx";
import { useText } from "./use-text.ts";

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
        <p className="page-part ink-2">
          Not compared: binary or over 1 MB. {before === undefined ? "" : `Before ${bytes(before.bytes)}. `}
          {after === undefined ? "" : `After ${bytes(after.bytes)}.`}
        </p>
      ) : (
        <BlobDiff before={before?.sha256 ?? null} after={after?.sha256 ?? null} path={path} />
      )}
    </>
  );
}

interface BlobDiffProps {
  readonly before: string | null;
  readonly after: string | null;
  readonly path: string;
  readonly short?: boolean;
}

/** Two artifacts by their hashes. */
export function BlobDiff({ before, after, path, short = false }: BlobDiffProps) {
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
  if (old.data.text === undefined || now.data.text === undefined)
    return <p className="page-part ink-2">Not text, so nothing can be compared.</p>;
  return <DiffView before={old.data.text} after={now.data.text} path={path} short={short} />;
}
