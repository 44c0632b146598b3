import { shellCommand } from "../domain/advice.ts";
import type { SessionView } from "../index.ts";
import { count, plain } from "./terminal/format.ts";
import { type AnswerLine, commandFor, nameOf, textLine } from "./typed-command.ts";

/** Lists the deliveries, and how to retry the failed ones. `repository`: the folder that has the branch. */
export function deliveryLines(
  view: SessionView,
  stateDir: string | undefined,
  repository: string | null,
): readonly AnswerLine[] {
  const { delivery } = view;
  if (delivery === null) return [];
  const { branch, commits, remote, pullRequest, patch, applied, failures } = delivery;
  return [
    ...(branch === null ? [] : branchLines({ branch, commits, remote }, repository)),
    ...(pullRequest === null ? [] : [textLine(requestText(pullRequest))]),
    ...(patch === null ? [] : [textLine(`Patch written to ${patch}.`)]),
    ...(applied === null ? [] : [textLine(appliedText(applied, view.source?.git ?? "the repository"))]),
    ...failures.flatMap(({ part, message, command }) => [
      textLine(`Not delivered (${partNames[part]}): ${message}`),
      { text: `  ${commandFor(stateDir, ...namedBy(command, view))}`, isCommand: true },
    ]),
  ];
}

/** The branch and the command that shows it. The branch may be in another folder, such as one of our clones. */
export function branchLines(
  {
    branch,
    commits,
    remote,
  }: Pick<NonNullable<SessionView["delivery"]>, "commits" | "remote"> & { readonly branch: string },
  repository: string | null,
): readonly AnswerLine[] {
  if (commits.length === 0)
    return [
      textLine(
        `The session changed nothing: branch ${branch} has no commit of its own, and it is not pushed.`,
      ),
    ];
  const pushed = remote === null ? "" : `, pushed to ${remote}`;
  const isHere = repository === null || repository === process.cwd();
  const command = ["git", ...(isHere ? [] : ["-C", repository]), "log", branch];
  return [
    textLine(`Branch ${branch} has ${count(commits.length, "commit")}${pushed}. Look at it:`),
    { text: `  ${plain(shellCommand(command))}`, isCommand: true },
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
