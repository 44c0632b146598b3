import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useEffect, useState } from "react";
import { useLocation } from "wouter";
import { ApiError } from "../api/api-error.ts";
import { client } from "../api/client.ts";
import { statusQuery, teamsQuery } from "../api/queries.ts";
import type { TeamsView } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { ModelField } from "../panels/model-field.tsx";
import { lostReason, useStale } from "../shell/connection-view.tsx";
import { CommandLine } from "../ui/copy.tsx";
import { Dialog } from "../ui/dialog.tsx";
import { ErrorNotice } from "../ui/error-notice.tsx";
import { FormField } from "../ui/form-field.tsx";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { addressOf } from "../url/session-url.ts";
import { SourceFields } from "./source-fields.tsx";
import { sourceRequest } from "./source-form.ts";
import { checkStart, emptyStart, type StartForm, startCommand, startRequest } from "./start-form.ts";

export default function StartPanel({ onClose }: { readonly onClose: () => void }) {
  const teams = useQuery(teamsQuery);
  return (
    <Dialog title="Start a session" kind="side" onClose={onClose}>
      <Loaded query={teams} failed="Could not read the teams.">
        {(data) => <StartFields teams={data} onClose={onClose} />}
      </Loaded>
    </Dialog>
  );
}

interface FieldsProps {
  readonly teams: TeamsView;
  readonly onClose: () => void;
}

function StartFields({ teams, onClose }: FieldsProps) {
  const [, navigate] = useLocation();
  const stale = useStale();
  const [form, setForm] = useState<StartForm>({ ...emptyStart, team: teams.teams[0]?.name ?? "" });
  const [refused, setRefused] = useState<ReadonlyMap<string, string>>(new Map());
  const [error, setError] = useState<unknown>();
  const [sending, setSending] = useState(false);
  const team = teams.teams.find(({ name }) => name === form.team);
  const status = useQuery(statusQuery).data;
  const stateDirectory = status?.stateDirectoryFlag ?? null;
  const command = startCommand(form, team, stateDirectory);
  const set = (part: Partial<StartForm>) => setForm({ ...form, ...part });
  // The panel was opened to write the brief.
  useEffect(() => focusFirst(new Map([["brief", ""]])), []);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (sending || stale) return;
    const wrong = checkStart(form);
    setRefused(wrong);
    setError(undefined);
    if (wrong.size > 0) return focusFirst(wrong);
    setSending(true);
    try {
      const started = await client.start({ ...startRequest(form), ...(await sourceRequest(form.source)) });
      onClose();
      navigate(addressOf(started));
    } catch (failure) {
      setSending(false);
      const fields = failure instanceof ApiError ? failure.fields : new Map<string, string>();
      setRefused(fields);
      // Errors that concern no field of this form appear beside its button.
      if (fields.size > 0 && [...fields.keys()].every(hasField)) focusFirst(fields);
      else setError(failure);
    }
  };
  return (
    <form className="form" onSubmit={(event) => void submit(event)} noValidate>
      <FormField name="brief" label="Brief" error={refused.get("brief")} hint="Describe the result you want.">
        {(props) => (
          <textarea
            {...props}
            data-first
            className="field"
            rows={6}
            value={form.brief}
            onChange={(event) => set({ brief: event.target.value })}
          />
        )}
      </FormField>
      <FormField
        name="team"
        label="Team"
        error={refused.get("team")}
        hint={
          team === undefined
            ? ""
            : `${counted(team.phases.length, "phase")}, ${counted(team.personas, "persona")}${team.builtIn ? ", built in" : ""}`
        }
      >
        {(props) => (
          <select
            {...props}
            className="field"
            value={form.team}
            onChange={(event) =>
              set({ team: event.target.value, pauseAfter: [], source: { ...form.source, phase: "" } })
            }
          >
            {teams.teams.map(({ name }) => (
              <option key={name}>{name}</option>
            ))}
          </select>
        )}
      </FormField>
      <SourceFields
        value={form.source}
        roots={status?.repoRoots ?? []}
        phases={team?.phases ?? []}
        refused={refused}
        onChange={(source) => set({ source })}
      />
      <div className="form-pair">
        <ModelField
          value={form.model}
          placeholder="the team's"
          error={refused.get("model")}
          hint={team?.model == null ? "" : `Team's: ${team.model}`}
          onChange={(model) => set({ model })}
        />
        <FormField name="key" label="Key" error={refused.get("key")} hint="Your own name for it.">
          {(props) => (
            <input
              {...props}
              className="field"
              placeholder="made for you"
              value={form.key}
              onChange={(event) => set({ key: event.target.value })}
            />
          )}
        </FormField>
      </div>
      <div className="form-pair">
        <FormField
          name="budget.usd"
          label="Budget in dollars"
          error={refused.get("budget.usd")}
          hint="Reserved before each call."
        >
          {(props) => (
            <input
              {...props}
              className="field"
              inputMode="decimal"
              placeholder="no limit"
              value={form.usd}
              onChange={(event) => set({ usd: event.target.value })}
            />
          )}
        </FormField>
        <FormField name="budget.tokens" label="Budget in tokens" error={refused.get("budget.tokens")}>
          {(props) => (
            <input
              {...props}
              className="field"
              inputMode="numeric"
              placeholder="no limit"
              value={form.tokens}
              onChange={(event) => set({ tokens: event.target.value })}
            />
          )}
        </FormField>
      </div>
      {team === undefined || team.phases.length === 0 ? null : (
        <fieldset className="pause-after">
          <legend className="form-label">Pause after</legend>
          {team.phases.map((phase) => (
            <label key={phase} className="check-line">
              <input
                type="checkbox"
                checked={form.pauseAfter.includes(phase)}
                onChange={(event) =>
                  set({
                    pauseAfter: event.target.checked
                      ? [...form.pauseAfter, phase]
                      : form.pauseAfter.filter((each) => each !== phase),
                  })
                }
              />
              {phase}
            </label>
          ))}
        </fieldset>
      )}
      {error === undefined ? null : <ErrorNotice what="Could not start." error={error} />}
      <div className="dialog-actions">
        <button
          type="submit"
          className="button primary"
          aria-disabled={sending || stale}
          title={stale ? lostReason : undefined}
        >
          <Icon name="play" size={14} />
          {sending ? "Starting…" : "Start"}
        </button>
        <span className="ink-2">
          {form.usd.trim() === "" && form.tokens.trim() === ""
            ? "Without a limit it spends what it needs."
            : ""}
        </span>
      </div>
      {command === undefined ? null : <CommandLine command={command} />}
    </form>
  );
}

const fieldOf = (name: string) => document.querySelector<HTMLElement>(`[data-field="${CSS.escape(name)}"]`);

const hasField = (name: string): boolean => fieldOf(name) !== null;

function focusFirst(fields: ReadonlyMap<string, string>): void {
  const [first] = fields.keys();
  if (first !== undefined) fieldOf(first)?.focus();
}
