import type { SessionView } from "../index.ts";
import { count } from "./terminal/format.ts";
import { type AnswerLine, commandFor, nameOf, textLine } from "./typed-command.ts";

/** What was delivered where, and how to repeat what was not. */
export function deliveryLines(view: SessionView, stateDir: string | undefined): readonly AnswerLine[] {
  const { delivery } = view;
  if (delivery === null) return [];
  const { branch, commits, remote, pullRequest, patch, applied, failures } = delivery;
  const pushed = remote === null ? "" : `, pushed to ${remote}`;
  return [
    ...(branch === null
      ? []
      : [
          textLine(
            `Branch ${branch} has ${count(commits.length, "commit")}${pushed}. Look at it: git log ${branch}`,
          ),
        ]),
    ...(pullRequest === null ? [] : [textLine(requestText(pullRequest))]),
    ...(patch === null ? [] : [textLine(`Patch written to ${patch}.`)]),
    ...(applied === null ? [] : [textLine(appliedText(applied, view.source?.git ?? "the repository"))]),
    ...failures.flatMap(({ part, message, command }) => [
      textLine(`Not delivered (${partNames[part]}): ${message}`),
      { text: `  ${commandFor(stateDir, ...namedBy(command, view))}`, isCommand: true },
    ]),
  ];
}

const partNames = {
  branch: "branch",
  push: "push",
  pullRequest: "pull request",
  patch: "patch",
  apply: "apply",
} as const;

/** The key is easier to type than the id. */
const namedBy = (command: readonly string[], view: SessionView): readonly string[] =>
  command.map((part) => (part === view.id ? nameOf(view) : part));

export function requestText({
  url,
  lastError,
}: NonNullable<NonNullable<SessionView["delivery"]>["pullRequest"]>): string {
  if (url !== null) return `Pull request: ${url}`;
  return `The pull request waits in the outbox${lastError === null ? "." : `: ${lastError}`}`;
}

function appliedText(
  { written, removed }: { readonly written: number; readonly removed: number },
  folder: string,
): string {
  const gone = removed === 0 ? "" : `, ${count(removed, "file")} removed`;
  return `${count(written, "file")} written in ${folder}${gone}.`;
}
