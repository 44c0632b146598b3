import type { Advice } from "../api/types.ts";
import { plainText } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { useCommand } from "../shell/use-command.ts";
import { CommandLine } from "../ui/copy.tsx";

/** Each piece of advice, with its command to paste. */
export function AdviceList({ advice }: { readonly advice: readonly Advice[] }) {
  const command = useCommand();
  return (
    <ul className="advice-list">
      {advice.map(({ text, command: words }) => (
        <li key={`${text} ${words?.join(" ")}`}>
          <span className="outside">{plainText(words === null ? text : `${text}:`)}</span>
          {words === null ? null : <CommandLine command={command(...words.slice(1))} />}
        </li>
      ))}
    </ul>
  );
}

/** Advice on one line: "Resume with: maestro resume parking-1". */
export function useAdviceText(): (advice: Advice) => string {
  const command = useCommand();
  return ({ text, command: words }) => (words === null ? text : `${text}: ${command(...words.slice(1))}`);
}

/** The command of a form and the resume after it. No command resumes a session whose personas are code. */
export function CommandThenResume({ first }: { readonly first: string }) {
  const { resume } = useScene().view.explanation;
  const command = useCommand();
  if (resume?.command != null)
    return <CommandLine command={`${first} && ${command(...resume.command.slice(1))}`} />;
  return (
    <>
      <CommandLine command={first} />
      {resume === null ? null : <p className="part-text ink-2">{resume.text}</p>}
    </>
  );
}
