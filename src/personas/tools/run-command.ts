import { InputInvalid } from "../../domain/errors.ts";
import type { ProgramEnd, RunProgram } from "../model/ports.ts";
import type { ToolArguments, ToolDone } from "./tool-call.ts";

const maxListed = 20;
const maxFailures = 20;

export const runCommandDescription =
  "Runs a command on the files of the project, in a sandbox. Give `command` for a shell (sh -c), or `argv` for a program without one. What it changes in the files is kept; its output is cut in the middle if it is long.";

/** The text that the model gets. The whole output is an artifact of the step. */
export async function runCommandTool(args: ToolArguments, runProgram: RunProgram): Promise<ToolDone> {
  const { command, argv, timeoutMs } = args;
  if ((command === undefined) === (argv === undefined))
    throw new InputInvalid("Give either command or argv, and not both.");
  const words = command === undefined ? (argv as readonly string[]) : ["sh", "-c", command as string];
  const ended = await runProgram({
    argv: words,
    ...(timeoutMs !== undefined && { timeoutMs: timeoutMs as number }),
  });
  const { output } = ended;
  return { output: textOf(ended), ...(output !== null && { artifact: output }) };
}

function textOf({
  end,
  stdout,
  stderr,
  failures,
  changed,
  putBack,
  refused,
  refusedHosts,
}: ProgramEnd): string {
  const files = `${changed} ${changed === 1 ? "file" : "files"} changed`;
  const parts = [
    `The command ${end}; ${files}.`,
    stdout.trim() !== "" && `<stdout>\n${stdout.trimEnd()}\n</stdout>`,
    stderr.trim() !== "" && `<stderr>\n${stderr.trimEnd()}\n</stderr>`,
    failures.length > 0 &&
      `Failures:\n${failures.slice(0, maxFailures).map(failureLine).join("\n")}${more(failures, maxFailures)}`,
    putBack.length > 0 &&
      `These files may not be changed and are as they were:\n${listed(putBack.map(({ path, why }) => `${path}: ${why}`))}`,
    refused.length > 0 &&
      `Not taken over:\n${listed(refused.map(({ path, reason }) => `${path}: ${reason}`))}`,
    refusedHosts.length > 0 && `Hosts that it may not reach:\n${listed(refusedHosts)}`,
  ];
  return parts.filter((part) => part !== false).join("\n");
}

function failureLine({ category, message, file, line }: ProgramEnd["failures"][number]): string {
  const place = file === undefined ? "" : ` (${file}${line === undefined ? "" : `:${line}`})`;
  return `- ${category}: ${message}${place}`;
}

const listed = (lines: readonly string[]): string =>
  lines
    .slice(0, maxListed)
    .map((line) => `- ${line}`)
    .join("\n") + more(lines, maxListed);

const more = (all: readonly unknown[], shown: number): string =>
  all.length > shown ? `\n[and ${all.length - shown} more]` : "";
