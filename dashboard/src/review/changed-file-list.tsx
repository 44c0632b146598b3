import { useState } from "react";
import type { FileChange } from "../api/types.ts";
import { count, counted } from "../format/count.ts";
import { FilePath } from "../ui/file-path.tsx";

/** Shorter lists need no filter. */
const filterFrom = 12;

interface Props {
  readonly files: readonly FileChange[];
  /** Number of files beyond the listed ones. */
  readonly more: number;
  readonly selected: string | undefined;
  /** The number of comments by path. */
  readonly commented: ReadonlyMap<string, number>;
  readonly onSelect: (path: string) => void;
}

export function ChangedFileList({ files, more, selected, commented, onSelect }: Props) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLowerCase();
  const shown = wanted === "" ? files : files.filter(({ path }) => path.toLowerCase().includes(wanted));
  return (
    <div className="review-list">
      {files.length < filterFrom ? null : (
        <input
          className="field review-filter"
          aria-label="Filter the changed files"
          placeholder="Filter files"
          value={filter}
          onChange={(event) => setFilter(event.target.value)}
        />
      )}
      <ul>
        {shown.map((file) => (
          <li key={file.path}>
            <button
              type="button"
              aria-current={file.path === selected ? "true" : undefined}
              onClick={() => onSelect(file.path)}
            >
              <FilePath path={file.path} />
              <Marks file={file} comments={commented.get(file.path) ?? 0} />
            </button>
          </li>
        ))}
      </ul>
      {more === 0 ? null : <p className="ink-3 review-more">and {counted(more, "more file")}</p>}
      {shown.length === 0 ? <p className="ink-3 review-more">No file matches.</p> : null}
    </div>
  );
}

const words = { added: "new", deleted: "deleted", renamed: "moved", changed: "" } as const;

function Marks({ file, comments }: { readonly file: FileChange; readonly comments: number }) {
  const { status, addedLines, removedLines } = file;
  return (
    <span className="file-marks">
      {comments === 0 ? null : <span className="ink-2">{counted(comments, "comment")}</span>}
      {words[status] === "" ? null : <span className="ink-3">{words[status]}</span>}
      {addedLines === null || removedLines === null ? (
        <span className="ink-3">binary</span>
      ) : (
        <LineCounts added={addedLines} removed={removedLines} />
      )}
    </span>
  );
}

export function LineCounts({ added, removed }: { readonly added: number; readonly removed: number }) {
  return (
    <span className="line-counts">
      <span className="added-lines">
        +{count(added)}
        <span className="unseen"> lines added</span>
      </span>{" "}
      <span className="removed-lines">
        -{count(removed)}
        <span className="unseen"> lines removed</span>
      </span>
    </span>
  );
}
