import { memo } from "react";
import { Link } from "wouter";
import type { SessionRow } from "../api/types.ts";
import { tokens } from "../format/count.ts";
import { limitMoney, money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { useNow } from "../live/clock.ts";
import { situationPhrase } from "../sentences/situation.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { Status } from "../status/status.tsx";
import { ChangeTint } from "../ui/change-tint.tsx";
import { PhraseText } from "../ui/phrase.tsx";
import { SpendBar } from "../ui/spend-bar.tsx";
import { Age } from "../ui/time.tsx";
import { addressOf } from "../url/session-url.ts";
import { PhaseStrip } from "./phase-strip.tsx";

export const nameOf = ({ key, id }: Pick<SessionRow, "key" | "id">): string => oneLine(key ?? id, 120);

interface Props {
  readonly row: SessionRow;
  readonly stale: boolean;
}

/** The cells of a row. The grid owns its line, place and keys. */
export const SessionCells = memo(function SessionCells({ row, stale }: Props) {
  const finished = row.status === "completed" || row.status === "canceled";
  return (
    <>
      <span role="gridcell" className="cell cell-status">
        <ChangeTint value={`${row.status} ${row.reason}`} />
        <Status status={sessionWord(row.status, row.reason)} />
      </span>
      <span role="gridcell" className="cell cell-session one-line">
        <Link href={addressOf(row)} className="session-key outside" tabIndex={-1}>
          {nameOf(row)}
        </Link>
        {row.simulated ? <span className="tag">simulated</span> : null}
        <span className="session-brief outside">{briefOf(row)}</span>
      </span>
      <span role="gridcell" className="cell cell-team one-line">
        {row.team}
      </span>
      <span role="gridcell" className="cell cell-phases">
        <PhaseStrip row={row} />
      </span>
      <span role="gridcell" className={`cell cell-now one-line outside ${finished ? "ink-2" : ""}`}>
        <Now row={row} stale={stale} />
      </span>
      <span role="gridcell" className="cell cell-spent">
        <Spent row={row} />
      </span>
      <span role="gridcell" className="cell cell-age">
        <Age at={row.status === "running" || row.status === "queued" ? row.createdAt : row.since} />
      </span>
      <span role="gridcell" className="cell cell-action">
        <RowAction row={row} />
      </span>
    </>
  );
});

function briefOf({ forkOf, brief }: SessionRow): string {
  if (forkOf !== null) return `fork of ${oneLine(forkOf.key ?? forkOf.id, 60)} at ${forkOf.at}`;
  return oneLine(brief, 200);
}

function Now({ row, stale }: Props) {
  const now = useNow();
  return <PhraseText phrase={situationPhrase(row, now, stale ? "past" : "now")} />;
}

function Spent({ row: { usage, limitUsd, limitTokens, status, reason } }: { readonly row: SessionRow }) {
  const full = status === "parked" && reason === "budget";
  const usedTokens = usage.inputTokens + usage.outputTokens;
  if (usage.costUsd === null) {
    return (
      <>
        <span title="The price of this model is not known">{tokens(usedTokens)} tokens</span>
        {limitTokens === null ? (
          <span className="bar-space" />
        ) : (
          <SpendBar used={usedTokens} limit={limitTokens} width={44} full={full} />
        )}
      </>
    );
  }
  return (
    <>
      <span>
        {money(usage.costUsd)}
        {limitUsd === null ? null : <span className="ink-3"> / {limitMoney(limitUsd)}</span>}
      </span>
      {limitUsd === null ? (
        <span className="bar-space" />
      ) : (
        <SpendBar used={usage.costUsd} limit={limitUsd} width={44} full={full} />
      )}
    </>
  );
}

/** Only if a person is needed. */
function RowAction({ row }: { readonly row: SessionRow }) {
  if (row.status !== "parked") return null;
  const asks = row.situation.kind === "review" && row.situation.calls.length > 0;
  const word = asks
    ? "Answer"
    : row.reason === "review"
      ? "Review"
      : row.reason === "budget"
        ? "Raise…"
        : "Open";
  return (
    <Link href={addressOf(row)} className="button small" tabIndex={-1} aria-label={`${word} ${nameOf(row)}`}>
      {word}
    </Link>
  );
}
