import { clockSeconds } from "../format/time.ts";
import { useScene } from "../session/context.ts";
import { StatusMark } from "../status/status.tsx";

interface Props {
  readonly isZoomed: boolean;
  readonly onFit: () => void;
  readonly onTable: () => void;
}

/** Explains only the elements that the picture contains. */
export function TimelineLegend({ isZoomed, onFit, onTable }: Props) {
  const { view } = useScene();
  const { phases, restarts } = view;
  const personas = phases.flatMap(({ personas }) => personas);
  const attempts = personas.flatMap(({ attempts }) => attempts);
  const failed = attempts.some(({ status }) => status === "failed");
  const waits = attempts.some(({ waits }) => waits.length > 0);
  const reused =
    personas.some(({ status }) => status === "reused") || phases.some(({ status }) => status === "reused");
  const restart = restarts.at(-1);
  return (
    <div className="legend">
      <span className="legend-item">
        <StatusMark icon="sealed" size={13} /> checkpoint sealed
      </span>
      {failed ? <Swatch kind="bar-failed" name="failed attempt" /> : null}
      {failed ? (
        <span className="legend-item">
          <svg width="24" height="12" aria-hidden="true">
            <path className="bar-backoff" d="M1 6H24" />
          </svg>
          backoff
        </span>
      ) : null}
      {waits ? <Swatch kind="bar-breaker" name="waits for a breaker" /> : null}
      {reused ? <Swatch kind="bar-reused" name="reused" /> : null}
      {restart === undefined ? null : (
        <span className="legend-item">
          <svg width="3" height="14" aria-hidden="true">
            <path className="overlay-restart" d="M1.5 0V14" />
          </svg>
          server restart {clockSeconds(Date.parse(restart))}
        </span>
      )}
      <span className="spring" />
      <button type="button" className="legend-button" onClick={onFit} aria-disabled={!isZoomed}>
        Fit <kbd className="key">0</kbd>
      </button>
      <button type="button" className="legend-button" onClick={onTable}>
        As a table <kbd className="key">T</kbd>
      </button>
    </div>
  );
}

function Swatch({ kind, name }: { readonly kind: string; readonly name: string }) {
  return (
    <span className="legend-item">
      <svg width="20" height="13" aria-hidden="true">
        <rect className={`bar ${kind}`} x=".5" y=".5" width="19" height="12" rx="2" />
      </svg>
      {name}
    </span>
  );
}
