import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useId, useState } from "react";
import { client } from "../api/client.ts";
import type { Edits, ResumeRequest, SuggestedEdit } from "../api/types.ts";
import { useText } from "../artifacts/use-text.ts";
import { oneLine } from "../format/plain-text.ts";
import { PlanView } from "../panels/plan-view.tsx";
import { resumeWarning } from "../sentences/stopped-text.ts";
import { ActionButton } from "../session/action-button.tsx";
import { useScene } from "../session/context.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { applyEdits } from "./apply-edits.ts";

const DiffView = lazy(() => import("../artifacts/diff-view.tsx"));

type Choice = "edit" | "resume" | "fork";

/** Ways to go on, by situation. The plan and the price are inside, before the button. */
export function Choices() {
  const { view, open } = useScene();
  const { stop, situation } = view;
  const suggested = stop?.suggestedEdit ?? null;
  const accept = situation.kind === "failed" && situation.acceptChanges;
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint?.valid === true).map(({ name }) => name);
  const [choice, setChoice] = useState<Choice>(suggested !== null ? "edit" : "resume");
  const name = view.key ?? view.id;
  const lastSealed = sealed.at(-1) ?? "";
  const command =
    choice === "edit"
      ? `maestro resume ${name} --edit ${suggested?.phase ?? lastSealed}=edit.json`
      : choice === "resume"
        ? `maestro resume ${name}${accept ? " --accept-changes" : ""}`
        : `maestro fork ${name} --at ${stop?.phase ?? lastSealed}`;
  return (
    <section className="choices" aria-label="What you can do">
      <h3>What you can do</h3>
      <div className="choice-list" role="radiogroup" aria-label="Ways to go on">
        {sealed.length === 0 ? null : (
          <ChoiceItem
            value="edit"
            chosen={choice}
            onChoose={setChoice}
            title="An input was wrong: resume with an edit"
            note={
              suggested === null
                ? "Change a file of a sealed phase. The old revision is kept."
                : `Seals your edit as ${suggested.phase}, revision ${revisionOf(view.phases, suggested.phase) + 1}. Revision ${revisionOf(view.phases, suggested.phase)} is kept.`
            }
            tag={suggested === null ? undefined : "suggested"}
          >
            {suggested === null ? (
              <ActionButton onClick={() => open({ kind: "edit", phase: lastSealed })}>
                <Icon name="pencil" size={14} />
                Open editor…
              </ActionButton>
            ) : (
              <SuggestedChoice suggested={suggested} />
            )}
          </ChoiceItem>
        )}
        <ChoiceItem
          value="resume"
          chosen={choice}
          onChoose={setChoice}
          title={
            accept
              ? "The changes are meant: accept them and resume"
              : "The cause was outside and is fixed: resume"
          }
          note={accept ? "Unchanged personas keep their results." : resumeWarning(stop?.sameFailure ?? null)}
        >
          <ResumeChoice request={accept ? { acceptChanges: true } : {}} word="Resume" />
        </ChoiceItem>
        <ChoiceItem
          value="fork"
          chosen={choice}
          onChoose={setChoice}
          title="Try another way, keep this one: fork at a phase…"
          note={`A new session. This one stays ${view.status} as it is.`}
        >
          <ActionButton
            onClick={() => open(stop?.phase == null ? { kind: "fork" } : { kind: "fork", at: stop.phase })}
          >
            <Icon name="fork" size={14} />
            Fork…
          </ActionButton>
        </ChoiceItem>
      </div>
      <CommandLine command={command} />
      <PhoneBar suggested={suggested} lastSealed={lastSealed} />
    </section>
  );
}

const revisionOf = (
  phases: readonly { name: string; checkpoint: { revision: number } | null }[],
  phase: string,
): number => phases.find(({ name }) => name === phase)?.checkpoint?.revision ?? 1;

interface ItemProps {
  readonly value: Choice;
  readonly chosen: Choice;
  readonly onChoose: (choice: Choice) => void;
  readonly title: string;
  readonly note: string;
  readonly tag?: string | undefined;
  readonly children: React.ReactNode;
}

function ChoiceItem({ value, chosen, onChoose, title, note, tag, children }: ItemProps) {
  const id = useId();
  const isChosen = value === chosen;
  return (
    <div className={`choice ${isChosen ? "chosen" : ""}`} id={`choice-${value}`}>
      <label className="radio-line" htmlFor={id}>
        <input id={id} type="radio" name="way" checked={isChosen} onChange={() => onChoose(value)} />
        <span className="choice-title medium">{title}</span>
        {tag === undefined ? null : <span className="tag">{tag}</span>}
      </label>
      <p className="choice-note ink-2">{note}</p>
      {isChosen ? <div className="choice-body">{children}</div> : null}
    </div>
  );
}

/** The edit a persona proposed, as a difference; it may be changed before it is sealed. */
function SuggestedChoice({ suggested }: { readonly suggested: SuggestedEdit }) {
  const { view, open } = useScene();
  const { data } = useText(view.id, suggested.sha256);
  const before = data?.text;
  const after = before === undefined ? undefined : applyEdits(before, suggested.edits);
  if (before === undefined || after === undefined)
    return <p className="ink-2">{data === undefined ? "" : "The suggested edit no longer fits the file."}</p>;
  const edits: Edits = { [suggested.phase]: { files: { [suggested.path]: after } } };
  return (
    <>
      <div className="choice-diff">
        <p className="choice-file">
          <Icon name="pencil" size={13} />
          <span className="mono one-line outside">{oneLine(suggested.path)}</span>
          <span className="ink-3">said by {suggested.by}</span>
        </p>
        <Suspense>
          <DiffView before={before} after={after} path={suggested.path} short />
        </Suspense>
      </div>
      <ResumeChoice
        request={{ edits }}
        word="Seal edit and resume"
        beside={
          <ActionButton onClick={() => open({ kind: "edit", phase: suggested.phase, path: suggested.path })}>
            <Icon name="pencil" size={14} />
            Open editor…
          </ActionButton>
        }
      />
    </>
  );
}

interface ResumeProps {
  readonly request: ResumeRequest;
  readonly word: string;
  readonly beside?: React.ReactNode;
}

function ResumeChoice({ request, word, beside }: ResumeProps) {
  const { view, speak } = useScene();
  const plan = useQuery({
    queryKey: ["plan", "resume", view.id, view.entries, request],
    queryFn: ({ signal }) => client.planResume(view.id, request, signal),
  });
  return (
    <>
      <PlanView query={plan} />
      <div className="dialog-actions">
        <ActionButton
          className="button primary"
          onClick={() => void speak("Resuming…", "Could not resume.", () => client.resume(view.id, request))}
        >
          <Icon name="play" size={14} />
          {word}
        </ActionButton>
        {beside}
      </div>
    </>
  );
}

interface PhoneBarProps {
  readonly suggested: SuggestedEdit | null;
  readonly lastSealed: string;
}

/** On a phone the two ways stay in reach of the thumb; both only open something. */
function PhoneBar({ suggested, lastSealed }: PhoneBarProps) {
  const { open } = useScene();
  const phase = suggested?.phase ?? lastSealed;
  return (
    <div className="phone-bar">
      <button
        type="button"
        className="button"
        onClick={() => document.getElementById("choice-resume")?.scrollIntoView({ block: "center" })}
      >
        Other ways
      </button>
      {phase === "" ? (
        <ActionButton className="button primary" onClick={() => open({ kind: "resume" })}>
          Resume…
        </ActionButton>
      ) : (
        <ActionButton
          className="button primary"
          onClick={() => open({ kind: "edit", phase, ...(suggested !== null && { path: suggested.path }) })}
        >
          Edit and resume…
        </ActionButton>
      )}
    </div>
  );
}
