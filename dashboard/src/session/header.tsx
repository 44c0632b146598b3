import { useRef } from "react";
import { Link } from "wouter";
import { tokens } from "../format/count.ts";
import { money } from "../format/money.ts";
import { oneLine } from "../format/plain-text.ts";
import { commandName } from "../format/shell-command.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { nameOf } from "../sessions/row.tsx";
import { useCommand } from "../shell/use-command.ts";
import { Status } from "../status/status.tsx";
import { copyText } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { Menu } from "../ui/menu.tsx";
import { SpendBar } from "../ui/spend-bar.tsx";
import { Age, Moment } from "../ui/time.tsx";
import { addressOf } from "../url/session-url.ts";
import { ActionButton } from "./actions.tsx";
import { useScene } from "./context.ts";

export function SessionHead() {
  const { view, open, stale } = useScene();
  const { status } = view;
  const canPause = status === "running" || status === "queued";
  const canResume =
    status === "paused" || (status === "parked" && view.reason !== "review") || status === "failed";
  const canCancel = status !== "completed" && status !== "canceled";
  const command = useCommand();
  return (
    <header className="session-head">
      <div className="session-title">
        <p className="crumb">
          <Link href="/">Sessions</Link> <span aria-hidden="true">/</span>
        </p>
        <h1 className="outside one-line">{nameOf(view)}</h1>
        {view.simulated ? <span className="tag">simulated</span> : null}
        <Status
          status={
            stale && status === "running"
              ? { icon: "pending", word: "Was running", tone: "quiet" }
              : sessionWord(status, view.reason)
          }
          tinted
        />
        {status === "running" ? null : (
          <span className="ink-3 since">
            since <Moment at={view.since} />, <Age at={view.since} /> ago
          </span>
        )}
      </div>
      <SessionMoney />
      <div className="session-actions">
        {canPause ? (
          <ActionButton onClick={() => open({ kind: "pause" })}>
            <Icon name="pause" size={14} />
            Pause
          </ActionButton>
        ) : null}
        {status === "paused" ? (
          <ActionButton onClick={() => open({ kind: "resume" })}>
            <Icon name="play" size={14} />
            Resume…
          </ActionButton>
        ) : null}
        <ActionButton onClick={() => open({ kind: "fork" })}>
          <Icon name="fork" size={14} />
          Fork…
        </ActionButton>
        <Menu
          label="More"
          items={[
            ...(canPause ? [{ name: "Pause…", run: () => open({ kind: "pause" }), phoneOnly: true }] : []),
            { name: "Fork…", run: () => open({ kind: "fork" }), phoneOnly: true },
            ...(canResume ? [{ name: "Resume…", run: () => open({ kind: "resume" }) }] : []),
            {
              name: "Copy the resume command",
              run: () => void copyText(command("resume", commandName(view))),
            },
            { name: "Copy the id", run: () => void copyText(view.id) },
            ...(canCancel ? [{ name: "Cancel…", run: () => open({ kind: "cancel" }) }] : []),
          ]}
        />
      </div>
      <SessionFacts />
    </header>
  );
}

function SessionFacts() {
  const { view } = useScene();
  const brief = useRef<HTMLSpanElement>(null);
  const { forkOf } = view;
  return (
    <p className="session-facts">
      <span className="fact-brief one-line outside" ref={brief}>
        {oneLine(view.brief, 300)}
      </span>
      {forkOf === null ? null : (
        <span>
          fork of <Link href={addressOf(forkOf)}>{nameOf(forkOf)}</Link> at {forkOf.at}
        </span>
      )}
      <span>team {view.team}</span>
      {view.model === null ? null : <span className="wide-only">{view.model}</span>}
      <span className="wide-only">
        started <Moment at={view.createdAt} />, <Age at={view.createdAt} /> ago
      </span>
      <span className="mono wide-only">{view.id}</span>
    </p>
  );
}

function SessionMoney() {
  const { view } = useScene();
  const { usage, limitUsd, reservedUsd, limitTokens } = view;
  const used = usage.inputTokens + usage.outputTokens;
  const full = view.status === "parked" && view.reason === "budget";
  if (usage.costUsd === null) {
    return (
      <p className="session-money">
        <span>
          <b className="strong">{tokens(used)} tokens</b>
          {limitTokens === null ? "" : ` of ${tokens(limitTokens)}`}, price unknown
        </span>
        {limitTokens === null ? null : <SpendBar used={used} limit={limitTokens} width={130} full={full} />}
      </p>
    );
  }
  return (
    <p className="session-money">
      <span>
        <b className="strong">{money(usage.costUsd)}</b>
        {usage.estimatedUsd < 0.005 ? "" : ` + ${money(usage.estimatedUsd)} perhaps billed`}
        {reservedUsd !== null && reservedUsd < 0.005 ? "" : ` + ${money(reservedUsd)} reserved`}
        {limitUsd === null ? "" : ` of ${money(limitUsd)}`}
      </span>
      {limitUsd === null ? null : (
        <SpendBar
          used={usage.costUsd + usage.estimatedUsd}
          reserved={reservedUsd ?? 0}
          limit={limitUsd}
          width={130}
          full={full}
        />
      )}
      {(usage.savedUsd ?? 0) < 0.005 ? null : (
        <span className="ink-3">{money(usage.savedUsd)} not paid again</span>
      )}
    </p>
  );
}
