import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { archivePath, diffPath } from "../api/client.ts";
import { changesQuery } from "../api/queries.ts";
import type { FileChanges, Review } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { FilePath } from "../ui/file-path.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { ChangedFileList, LineCounts } from "./changed-file-list.tsx";
import { CommentForm, type CommentPlace } from "./comment-form.tsx";
import type { Comments } from "./comments.ts";

const BlobDiff = lazy(async () => ({ default: (await import("../artifacts/change-pane.tsx")).BlobDiff }));

interface Props {
  readonly review: Review;
  readonly comments: Comments;
  readonly path: string | undefined;
  readonly onSelect: (path: string) => void;
}

/** The changed files and one of their differences, for the phase or since the session began. */
export function ReviewFiles({ review, comments, path, onSelect }: Props) {
  const { view } = useScene();
  const [isWhole, setIsWhole] = useState(false);
  const phase = isWhole ? undefined : review.phase;
  const changes = useQuery(changesQuery(view.id, phase, review.revision));
  return (
    <section className="review-changes" aria-label="Changed files">
      <header className="review-bar">
        <label className="tree-picker">
          <span className="ink-3">Changes</span>
          <select
            className="field quiet-field"
            value={isWhole ? "all" : "phase"}
            onChange={(event) => setIsWhole(event.target.value === "all")}
          >
            <option value="phase">of {review.phase}</option>
            <option value="all">since the start</option>
          </select>
        </label>
        {changes.data === undefined ? null : <Totals changes={changes.data} />}
        <span className="spring" />
        <Download href={diffPath(view.id, phase)} word="Patch" />
        <Download href={archivePath(view.id, "zip", review.phase)} word="Zip" />
        <Download href={archivePath(view.id, "tar.gz", review.phase)} word="tar.gz" />
      </header>
      <Loaded query={changes} failed="Could not read the changes." rows={6}>
        {(data) => <Changes data={data} comments={comments} path={path} onSelect={onSelect} />}
      </Loaded>
    </section>
  );
}

const Download = ({ href, word }: { readonly href: string; readonly word: string }) => (
  <a className="button small" href={href} download>
    <Icon name="download" size={13} />
    {word}
  </a>
);

function Totals({ changes: { files, more } }: { readonly changes: FileChanges }) {
  const sum = (lines: readonly (number | null)[]) =>
    lines.reduce<number>((total, each) => total + (each ?? 0), 0);
  return (
    <p className="review-totals">
      {counted(files.length + more, "file")}{" "}
      <LineCounts
        added={sum(files.map(({ addedLines }) => addedLines))}
        removed={sum(files.map(({ removedLines }) => removedLines))}
      />
    </p>
  );
}

interface ChangesProps extends Pick<Props, "comments" | "path" | "onSelect"> {
  readonly data: FileChanges;
}

function Changes({ data, comments, path, onSelect }: ChangesProps) {
  const [place, setPlace] = useState<CommentPlace>();
  const file = data.files.find((each) => each.path === path) ?? data.files[0];
  const commented = new Map(
    [...Map.groupBy(comments.list, (each) => each.path)].map(([each, list]) => [each, list.length]),
  );
  if (file === undefined) return <p className="page-part ink-2">No file was changed.</p>;
  const marked = comments.list.filter((each) => each.path === file.path);
  return (
    <div className="review-files">
      <ChangedFileList
        files={data.files}
        more={data.more}
        selected={file.path}
        commented={commented}
        onSelect={(next) => {
          setPlace(undefined);
          onSelect(next);
        }}
      />
      <div className="review-diff">
        <header className="review-file">
          <h3>
            <FilePath path={file.path} />
          </h3>
          {file.from === null ? null : <span className="ink-3 outside">was {oneLine(file.from, 500)}</span>}
        </header>
        <Suspense>
          <BlobDiff
            key={`${file.path} ${file.before} ${file.after}`}
            before={file.before}
            after={file.after}
            path={file.path}
            marked={marked}
            onPoint={setPlace}
          />
        </Suspense>
        <CommentForm
          key={`${file.path} ${place?.side} ${place?.line}`}
          path={file.path}
          place={place}
          onAdd={comments.add}
        />
      </div>
    </div>
  );
}
