import { ApiError, NoAnswer } from "../api/api-error.ts";
import { StatusMark } from "../status/status.tsx";
import { CopyButton } from "./copy.tsx";

interface Props {
  /** "Could not resume." */
  readonly what: string;
  readonly error: unknown;
  readonly onRetry?: () => void;
}

/** An error with its advice, code and request id: enough to act on it and to report it. */
export function ErrorNotice({ what, error, onRetry }: Props) {
  const known = error instanceof ApiError ? error : undefined;
  const message = error instanceof Error ? error.message : String(error);
  const advice = known?.advice ?? (error instanceof NoAnswer ? error.advice : null);
  return (
    <div className="error-notice" role="alert">
      <div className="notice failed">
        <StatusMark icon="failed" tone="failed" />
        <p>
          <b className="strong">{what}</b> <span className="outside">{message}</span>
        </p>
        {onRetry === undefined ? null : (
          <button type="button" className="button small" onClick={onRetry}>
            Try again
          </button>
        )}
      </div>
      {advice === null && known === undefined ? null : (
        <dl className="facts">
          {advice === null ? null : (
            <>
              <dt>What to do</dt>
              <dd className="outside">{advice}</dd>
            </>
          )}
          {known === undefined ? null : (
            <>
              <dt>Code</dt>
              <dd className="mono">
                {known.status} {known.code}
              </dd>
            </>
          )}
          {known?.requestId === undefined || known.requestId === null ? null : (
            <>
              <dt>Request</dt>
              <dd className="mono">
                {known.requestId} <CopyButton text={known.requestId} link />
              </dd>
            </>
          )}
        </dl>
      )}
    </div>
  );
}
