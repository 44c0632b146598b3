import type { UseQueryResult } from "@tanstack/react-query";
import { type ReactNode, useEffect, useState } from "react";
import { ErrorNotice } from "./error-notice.tsx";

/** Nothing for 150 ms, then placeholders of the final height; after 5 s a sentence. */
function useWaited(milliseconds: number): boolean {
  const [waited, setWaited] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setWaited(true), milliseconds);
    return () => clearTimeout(timer);
  }, [milliseconds]);
  return waited;
}

interface WaitingProps {
  readonly rows?: number;
  readonly onRetry: () => void;
}

export function Waiting({ rows = 5, onRetry }: WaitingProps) {
  const short = useWaited(150);
  const long = useWaited(5000);
  if (!short) return <div className="waiting" />;
  return (
    <div className="waiting" aria-busy="true">
      <SkeletonRows rows={rows} />
      {long ? (
        <p className="waiting-long">
          Still loading. The server has not answered for 5 s.{" "}
          <button type="button" className="link" onClick={onRetry}>
            Try again
          </button>
        </p>
      ) : (
        <span className="unseen">Loading</span>
      )}
    </div>
  );
}

function SkeletonRows({ rows }: { readonly rows: number }) {
  return (
    <div aria-hidden="true">
      {Array.from({ length: rows }, (_, index) => (
        <div key={index} className="skeleton-row">
          <span className="skeleton dot" />
          <span className={`skeleton bar width-${(index % 3) + 1}`} />
          <span className={`skeleton bar width-${((index + 1) % 3) + 2}`} />
          <span className="skeleton bar width-1" />
        </div>
      ))}
    </div>
  );
}

interface LoadedProps<Data> {
  readonly query: UseQueryResult<Data>;
  /** "Could not read the checkpoints." */
  readonly failed: string;
  readonly rows?: number;
  readonly children: (data: Data) => ReactNode;
}

/** Each part of a page loads, fails and is retried on its own. */
export function Loaded<Data>({ query, failed, rows = 5, children }: LoadedProps<Data>) {
  const retry = () => void query.refetch();
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null) return <ErrorNotice what={failed} error={query.error} onRetry={retry} />;
  return <Waiting rows={rows} onRetry={retry} />;
}
