import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { client } from "../api/client.ts";
import type { Edits } from "../api/types.ts";
import { money } from "../format/money.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { nameOf } from "../sessions/row.tsx";
import { lostReason } from "../shell/connection-view.tsx";
import { CommandLine } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { sessionAddress } from "../url/session-url.ts";
import { EditField } from "./edit-field.tsx";
import { PlanView } from "./plan-view.tsx";

interface Props {
  readonly at: string | undefined;
  readonly onClose: () => void;
}

export default function ForkPanel({ at: given, onClose }: Props) {
  const { view, stale } = useScene();
  const [, navigate] = useLocation();
  const phases = view.phases.map(({ name }) => name);
  const firstOpen = view.phases.find(({ status }) => ["failed", "running", "stopped"].includes(status))?.name;
  const [at, setAt] = useState(given ?? firstOpen ?? phases[0] ?? "");
  const [fresh, setFresh] = useState(false);
  const [edits, setEdits] = useState<Edits>({});
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const edited = Object.keys(edits).length > 0;
  const request = { at, ...(edited && { edits }), ...(fresh && { fresh }) };
  const plan = useQuery({
    queryKey: ["plan", "fork", view.id, request],
    queryFn: ({ signal }) => client.planFork(view.id, request, signal),
    placeholderData: keepPreviousData,
  });
  const fork = async () => {
    setSending(true);
    setError(undefined);
    try {
      const { id, key } = await client.fork(view.id, request);
      onClose();
      navigate(sessionAddress(key ?? id));
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  const most = plan.data?.total?.highUsd;
  const nothing = plan.data?.nothingRuns === true;
  const blocked = stale || sending || plan.data === undefined || nothing;
  const { word, reason } = sessionWord(view.status, view.reason);
  return (
    <Dialog title={`Fork ${nameOf(view)}`} kind="side" onClose={onClose}>
      <p className="ink-2">
        A new session. Phases before the fork are taken over; it and those after run again, reusing what has
        unchanged inputs.
      </p>
      <div className="form">
        <div className="form-field">
          <label htmlFor="fork-at">Fork at</label>
          <select
            id="fork-at"
            className="field"
            data-first
            value={at}
            onChange={(event) => setAt(event.target.value)}
          >
            {phases.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <EditField phases={phases.slice(0, phases.indexOf(at) + 1)} edits={edits} onEdits={setEdits} />
        <PlanView query={plan} />
        <label className="check-line">
          <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />
          Reuse nothing (--fresh)
        </label>
        {error === undefined ? null : <ErrorNotice what="Could not fork." error={error} />}
        <div className="dialog-actions">
          <button
            type="button"
            className="button primary"
            aria-disabled={blocked}
            title={stale ? lostReason : undefined}
            onClick={blocked ? undefined : () => void fork()}
          >
            <Icon name="fork" size={14} />
            {sending ? "Forking…" : most === undefined ? "Fork" : `Fork, up to ${money(most)}`}
          </button>
          <span className="ink-2">
            {nameOf(view)} stays{" "}
            {reason === undefined ? word.toLowerCase() : `${word.toLowerCase()} as it is`}
          </span>
        </div>
      </div>
      <CommandLine
        command={`maestro fork ${view.key ?? view.id} --at ${at}${edited ? ` --edit ${Object.keys(edits)[0]}=edit.json` : ""}${fresh ? " --fresh" : ""}`}
      />
    </Dialog>
  );
}
