import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { client } from "../api/client.ts";
import type { ResumeRequest } from "../api/types.ts";
import { commandName } from "../format/shell-command.ts";
import { PlanView } from "../panels/plan-view.tsx";
import { resumeWarning } from "../sentences/stopped-text.ts";
import { ActionButton } from "../session/actions.tsx";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";
import { Icon } from "../ui/icons.tsx";
import { PhoneBar } from "./phone-bar.tsx";

type Choice = "edit" | "resume" | "fork";

/** The ways to resume. Each shows its plan and price before its button. */
export function Choices() {
  const { view, open } = useScene();
  const { situation } = view;
  const [stop] = view.stop?.personas ?? [];
  const accept = situation.kind === "failed" && situation.acceptChanges;
  const sealed = view.phases.filter(({ checkpoint }) => checkpoint !== null).map(({ name }) => name);
  const [choice, setChoice] = useState<Choice>("resume");
  const command = useCommand();
  const name = commandName(view);
  const lastSealed = sealed.at(-1) ?? "";
  const { resume } = view.explanation;
  const resumes = resume === null || resume.command !== null;
  const commands = {
    edit: undefined,
    resume: resumes ? command("resume", name, accept && "--accept-changes") : undefined,
    fork: command("fork", name, "--at", stop?.phase ?? lastSealed),
  };
  const shown = commands[choice];
  return (
    <section className="choices" aria-label="What you can do">
      <h3>What you can do</h3>
      <div className="choice-list" role="radiogroup" aria-label="Ways to resume">
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
              : stop?.category === "GOVERNANCE"
                ? "The work or its policy is corrected: resume"
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
            onClick={() => open(stop === undefined ? { kind: "fork" } : { kind: "fork", at: stop.phase })}
          >
            <Icon name="fork" size={14} />
            Fork…
          </ActionButton>
        </ChoiceItem>
      </div>
      {shown === undefined ? null : <CommandLine command={shown} />}
      {choice === "resume" && !resumes ? <p className="choice-note ink-2">{resume.text}</p> : null}
      <ChosenBar choice={choice} lastSealed={lastSealed} />
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
  const { view, send, open } = useScene();
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
          onClick={() => void send("Resuming…", "Could not resume.", () => client.resume(view.id, request))}
        >
          <Icon name="play" size={14} />
          {word}
        </ActionButton>
        <ActionButton onClick={() => open({ kind: "resume" })}>{word} with a note…</ActionButton>
      </div>
    </>
  );
}

interface BarProps {
  readonly choice: Choice;
  readonly lastSealed: string;
}

function ChosenBar({ choice, lastSealed }: BarProps) {
  const { view, open } = useScene();
  const stoppedAt = view.stop?.personas[0]?.phase;
  const ways = {
    edit: { word: "Edit and resume…", panel: { kind: "edit", phase: lastSealed } },
    resume: { word: "Resume…", panel: { kind: "resume" } },
    fork: {
      word: "Fork…",
      panel: { kind: "fork", ...(stoppedAt !== undefined && { at: stoppedAt }) },
    },
  } as const;
  const { word, panel } = ways[choice];
  const showWays = () => document.getElementById("choice-resume")?.scrollIntoView({ block: "center" });
  return <PhoneBar other={{ word: "Other ways", run: showWays }} main={{ word, run: () => open(panel) }} />;
}
