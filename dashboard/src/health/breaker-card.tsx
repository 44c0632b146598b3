import { useState } from "react";
import { Link } from "wouter";
import { client } from "../api/client.ts";
import type { BreakerView } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { countdown } from "../format/time.ts";
import { useNow } from "../live/clock.ts";
import { breakerCause } from "../sentences/breaker-text.ts";
import { breakerWord } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { lostReason, useStale } from "../shell/connection-view.tsx";
import { Status } from "../status/status.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { addressOf } from "../url/session-url.ts";

export function BreakerCard({ breaker }: { readonly breaker: BreakerView }) {
  const now = useNow();
  const stale = useStale();
  const [resetting, setResetting] = useState(false);
  const { name, state, probeAt, cooldownMs, waiting, failedProbes } = breaker;
  const left = probeAt === null ? 0 : Math.max(0, Date.parse(probeAt) - now);
  return (
    <article className="breaker-card">
      <header className="part-head">
        <Status status={breakerWord(state)} />
        <h3>{name}</h3>
        <span className="spring" />
        <span className="ink-3">
          {breakerCause(breaker)}
          {failedProbes === 0 ? "" : `, ${failedProbes} failed probes`}
        </span>
      </header>
      {state === "closed" ? null : (
        <>
          <p className="ink-2">
            {state === "open"
              ? "Calls are refused until the probe, so that no money is spent on a dependency that is down."
              : "One call is on its way as a probe; the others wait for its outcome."}
          </p>
          {probeAt === null ? null : (
            <p className="probe">
              <svg className="spend-bar" width="200" height="10" aria-hidden="true">
                <rect className="spend-track" x="0" y="3" width="200" height="4" />
                <rect
                  className="spend-used"
                  x="0"
                  y="3"
                  width={200 * (1 - Math.min(1, left / Math.max(1, cooldownMs)))}
                  height="4"
                />
              </svg>
              <span>
                probe in <b className="strong">{countdown(left)}</b>
              </span>
            </p>
          )}
          {waiting.length === 0 ? null : (
            <p className="ink-2">
              Waiting:{" "}
              {waiting.slice(0, 8).map((waiter, index) => (
                <span key={`${waiter.id} ${waiter.persona}`}>
                  {index === 0 ? "" : ", "}
                  <Link href={addressOf(waiter)}>
                    {nameOf(waiter)}
                    {waiter.persona === null ? "" : ` / ${waiter.persona}`}
                  </Link>
                  {waiter.parked ? " (parked)" : ""}
                </span>
              ))}
              {waiting.length > 8 ? ` and ${waiting.length - 8} more` : ""}.{" "}
              {waiting.length === 1 ? "It continues by itself" : "They continue by themselves"} when the probe
              passes.
            </p>
          )}
          <div className="dialog-actions">
            <button
              type="button"
              className="button small"
              aria-disabled={stale}
              title={stale ? lostReason : undefined}
              onClick={stale ? undefined : () => setResetting(true)}
            >
              Reset…
            </button>
            <span className="ink-3">closes it now; the next call is the probe</span>
          </div>
        </>
      )}
      {resetting ? <ResetDialog breaker={breaker} onClose={() => setResetting(false)} /> : null}
    </article>
  );
}

interface ResetProps {
  readonly breaker: BreakerView;
  readonly onClose: () => void;
}

function ResetDialog({ breaker: { name, threshold }, onClose }: ResetProps) {
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const reset = async () => {
    setSending(true);
    try {
      await client.resetBreaker(name);
      onClose();
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  return (
    <Dialog title={`Reset the breaker ${name}`} onClose={onClose}>
      <div className="form signal-panel">
        <p>
          It closes now, for all sessions. The next call goes out and is paid; {counted(threshold, "outage")}{" "}
          in a row {threshold === 1 ? "opens" : "open"} it again.
        </p>
        {error === undefined ? null : <ErrorNotice what="Could not reset the breaker." error={error} />}
        <div className="dialog-actions">
          <button
            type="button"
            className="button primary"
            aria-disabled={sending}
            onClick={sending ? undefined : () => void reset()}
          >
            {sending ? "Resetting…" : "Reset"}
          </button>
          <button type="button" className="button" onClick={onClose}>
            Keep it open
          </button>
        </div>
      </div>
    </Dialog>
  );
}
