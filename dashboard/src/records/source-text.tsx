import type { SessionView } from "../api/types.ts";
import { bytes, counted } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";

const mostListed = 50;

/** The origin of the session's files, and the excluded ones. */
export function SourceText({ source }: { readonly source: NonNullable<SessionView["source"]> }) {
  const { leftOut } = source;
  return (
    <section aria-label="Source">
      <header className="record-head">
        <h2>Source</h2>
      </header>
      <dl className="facts record-facts">
        {"git" in source ? (
          <>
            <dt>Repository</dt>
            <dd className="mono outside">{oneLine(source.git, 500)}</dd>
            <dt>Commit</dt>
            <dd className="mono outside">
              {source.commit.slice(0, 12)} ({oneLine(source.ref)})
            </dd>
            <dt>Not committed</dt>
            <dd>
              {source.dirty.length === 0
                ? "nothing"
                : `${counted(source.dirty.length, "file")}: ${listOf(source.dirty)}`}
            </dd>
          </>
        ) : (
          <>
            <dt>Archive</dt>
            <dd>
              {source.upload.format}, {bytes(source.upload.bytes)}
            </dd>
          </>
        )}
        <dt>Left out</dt>
        <dd>{leftOut.length === 0 ? "nothing" : counted(leftOut.length, "file")}</dd>
      </dl>
      {leftOut.length === 0 ? null : (
        <ul className="left-out">
          {leftOut.slice(0, mostListed).map(({ path, reason }) => (
            <li key={path} className="outside">
              <code>{oneLine(path, 500)}</code> <span className="ink-2">{oneLine(reason)}</span>
            </li>
          ))}
          {leftOut.length > mostListed ? (
            <li className="ink-3">and {counted(leftOut.length - mostListed, "more file")}</li>
          ) : null}
        </ul>
      )}
    </section>
  );
}

const listOf = (paths: readonly string[]): string =>
  paths
    .slice(0, 10)
    .map((path) => oneLine(path, 200))
    .join(", ") + (paths.length > 10 ? ", …" : "");
