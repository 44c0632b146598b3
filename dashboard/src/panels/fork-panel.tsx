import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useLocation } from "wouter";
import { ApiError } from "../api/api-error.ts";
import { client } from "../api/client.ts";
import type { Edits } from "../api/types.ts";
import { money } from "../format/money.ts";
import { commandName, editFlags } from "../format/shell-command.ts";
import { sessionWord } from "../sentences/status-word.ts";
import { useScene } from "../session/context.ts";
import { nameOf } from "../sessions/row.tsx";
import { useCommand } from "../shell/use-command.ts";
import { modelProblem } from "../start/start-form.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { Icon } from "../ui/icons.tsx";
import { useDebounced } from "../ui/use-debounced.ts";
import { addressOf } from "../url/session-url.ts";
import { EditField } from "./edit-field.tsx";
import { ModelField } from "./model-field.tsx";
import { PlanView } from "./plan-view.tsx";
import { ConfirmButton } from "./signal-panel.tsx";

interface Props {
  readonly at: string | undefined;
  /** Opened in order to choose another model. */
  readonly forModel: boolean;
  readonly onClose: () => void;
}

export default function ForkPanel({ at: given, forModel, onClose }: Props) {
  const { view, stale } = useScene();
  const [, navigate] = useLocation();
  const command = useCommand();
  const phases = view.phases.map(({ name }) => name);
  const firstOpen = view.phases.find(({ status }) => ["failed", "running", "stopped"].includes(status))?.name;
  const [at, setAt] = useState(given ?? firstOpen ?? phases[0] ?? "");
  const [fresh, setFresh] = useState(false);
  const [repeats, setRepeats] = useState(false);
  const [typed, setTyped] = useState("");
  const model = useDebounced(typed.trim());
  const wrongModel = modelProblem(typed);
  const [edits, setEdits] = useState<Edits>({});
  const [sending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const edited = Object.keys(edits).length > 0;
  const request = {
    at,
    ...(edited && { edits }),
    ...(fresh && { fresh }),
    ...(model !== "" && modelProblem(model) === undefined && { model }),
  };
  const plan = useQuery({
    queryKey: ["plan", "fork", view.id, request],
    queryFn: ({ signal }) => client.planFork(view.id, request, signal),
    placeholderData: keepPreviousData,
  });
  const fork = async () => {
    setSending(true);
    setError(undefined);
    try {
      const made = await client.fork(view.id, { ...request, ...(repeats && { repeatEffects: true }) });
      onClose();
      navigate(addressOf(made));
    } catch (failure) {
      setError(failure);
      setSending(false);
    }
  };
  const most = plan.data?.total?.highUsd;
  const nothing = plan.data?.nothingRuns === true;
  const repeated = plan.data?.effects ?? [];
  const refusedModel = plan.error instanceof ApiError ? plan.error.fields.get("model") : undefined;
  const isAsked = typed.trim() === model && wrongModel === undefined && !plan.isPlaceholderData;
  const isRefused = repeated.length > 0 && !repeats;
  const blocked = stale || sending || plan.data === undefined || nothing || !isAsked || isRefused;
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
            {...(!forModel && { "data-first": true })}
            value={at}
            onChange={(event) => setAt(event.target.value)}
          >
            {phases.map((name) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        </div>
        <EditField phases={phases.slice(0, phases.indexOf(at) + 1)} edits={edits} onEdits={setEdits} />
        <ModelField
          value={typed}
          placeholder={view.model ?? "the team's"}
          hint="Empty: the same. Personas that name their own model keep it."
          error={wrongModel ?? refusedModel}
          first={forModel}
          onChange={setTyped}
        />
        {refusedModel === undefined ? <PlanView query={plan} /> : null}
        <label className="check-line">
          <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />
          Reuse nothing (--fresh)
        </label>
        {repeated.length === 0 ? null : (
          <label className="check-line">
            <input type="checkbox" checked={repeats} onChange={(event) => setRepeats(event.target.checked)} />
            Repeat effects that happened: {repeated.map(({ phase, name }) => `${phase}/${name}`).join(", ")}
          </label>
        )}
        {error === undefined ? null : <ErrorNotice what="Could not fork." error={error} />}
        <div className="dialog-actions">
          <ConfirmButton blocked={blocked} act={fork}>
            <Icon name="fork" size={14} />
            {sending ? "Forking…" : most === undefined ? "Fork" : `Fork, up to ${money(most)}`}
          </ConfirmButton>
          <span className="ink-2">
            {nameOf(view)} stays{" "}
            {reason === undefined ? word.toLowerCase() : `${word.toLowerCase()} as it is`}
          </span>
        </div>
      </div>
      <CommandLine
        command={command(
          "fork",
          commandName(view),
          "--at",
          at,
          ...editFlags(Object.keys(edits)),
          ...(typed.trim() === "" ? [] : ["--model", typed.trim()]),
          fresh && "--fresh",
          repeated.length > 0 && repeats && "--repeat-effects",
        )}
      />
    </Dialog>
  );
}
