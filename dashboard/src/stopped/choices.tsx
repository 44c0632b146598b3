import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { ResumeRequest } from "../api/types.ts";
import { PlanView } from "../panels/plan-view.tsx";
import { resumeWarning } from "../sentences/stopped-text.ts";
import { ActionButton } from "../session/action-button.tsx";
import { useScene } from "../session/context.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";

type Choice = "edit" | "resume" | "fork";

/** Ways to go on, by situation. The plan and the price are inside, before the button. */
export function Choices() {
  const { view, open } = useScene();
  const { stop, situation } = view;
  const accept = situation.kind === "failed" && situation.acceptChanges;
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint !== null).map(({ name }) => name);
  const [choice, setChoice] = useState<Choice>("resume");
  const name = view.key ?? view.id;
  const lastSealed = sealed.at(-1) ?? "";
  const command =
    choice === "edit"
      ? undefined
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
            note="Change a file or an output of a sealed phase. The old revision is kept."
          >
            <ActionButton onClick={() => open({ kind: "edit", phase: lastSealed })}>
              <Icon name="pencil" size={14} />
              Open editor…
            </ActionButton>
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
      {command === undefined ? null : <CommandLine command={command} />}
      <PhoneBar choice={choice} lastSealed={lastSealed} />
    </section>
  );
}

interface ItemProps {
  readonly value: Choice;
  readonly chosen: Choice;
  readonly onChoose: (choice: Choice) => void;
  readonly title: string;
  readonly note: string;
  readonly children: React.ReactNode;
}

function ChoiceItem({ value, chosen, onChoose, title, note, children }: ItemProps) {
  const id = useId();
  const isChosen = value === chosen;
  return (
    <div className={`choice ${isChosen ? "chosen" : ""}`} id={`choice-${value}`}>
      <label className="radio-line" htmlFor={id}>
        <input id={id} type="radio" name="way" checked={isChosen} onChange={() => onChoose(value)} />
        <span className="choice-title medium">{title}</span>
      </label>
      <p className="choice-note ink-2">{note}</p>
      {isChosen ? <div className="choice-body">{children}</div> : null}
    </div>
  );
}

interface ResumeProps {
  readonly request: ResumeRequest;
  readonly word: string;
}

function ResumeChoice({ request, word }: ResumeProps) {
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
      </div>
    </>
  );
}

interface PhoneBarProps {
  readonly choice: Choice;
  readonly lastSealed: string;
}

/** On a phone the chosen way stays in reach of the thumb; it only opens something. */
function PhoneBar({ choice, lastSealed }: PhoneBarProps) {
  const { view, open } = useScene();
  const ways = {
    edit: { word: "Edit and resume…", panel: { kind: "edit", phase: lastSealed } },
    resume: { word: "Resume…", panel: { kind: "resume" } },
    fork: {
      word: "Fork…",
      panel: { kind: "fork", ...(view.stop?.phase != null && { at: view.stop.phase }) },
    },
  } as const;
  const { word, panel } = ways[choice];
  return (
    <div className="phone-bar">
      <button
        type="button"
        className="button"
        onClick={() => document.getElementById("choice-resume")?.scrollIntoView({ block: "center" })}
      >
        Other ways
      </button>
      <ActionButton className="button primary" onClick={() => open(panel)}>
        {word}
      </ActionButton>
    </div>
  );
}
