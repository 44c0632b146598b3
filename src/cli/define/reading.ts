import { Option } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { sessionStatuses } from "../../journal/standing.ts";
import type { ImportFlags } from "../commands/checkpoints.ts";
import { howStarted } from "../how-started.ts";
import type { GlobalOptions } from "../open.ts";
import { transcriptFormats, usageGroups } from "../read-flags.ts";
import type { Define } from "./command.ts";
import { offering } from "./deciding.ts";

/** Commands that only read. */
export function defineReading(define: Define): void {
  define({
    signature: "sessions",
    description: "List sessions, newest first",
    spins: true,
    example: "maestro sessions --status parked,failed",
  })
    .addOption(choosing("--status <statuses>", "only these, separated by commas", sessionStatuses))
    .option("--limit <n>", "at most this many", "50")
    .addOption(new Option("--names", "only keys and ids, for completion").hideHelp())
    .action(async (options) => (await import("../commands/sessions.ts")).sessions(options));

  define({
    signature: "show <session>",
    description: "Show one session: its results, its cost, why it stopped and what to do",
    spins: true,
    example: "maestro show hello",
  })
    .option("--out <folder>", "also write its files here")
    .option("--at <phase>", "with --out: the files after this phase; design@1 for an older revision")
    .action(async (session: string, options) => (await import("../commands/show.ts")).show(session, options));

  define({
    signature: "transcript <session> [persona]",
    description: "Print every prompt, reasoning, answer, tool call and check of a session",
    spins: true,
    example: ["maestro transcript hello", "maestro transcript hello --format markdown > hello.md"],
  })
    .option("--phase <phase>", "only this phase")
    .option("--attempt <n>", "with a persona: only this attempt, counted over all rounds (1 is the first)")
    .addOption(
      new Option("--format <format>", "text, markdown, or jsonl: one item a line, prompts as they were sent")
        .choices(transcriptFormats)
        .default("text"),
    )
    .action(async (session: string, persona: string | undefined, options) =>
      (await import("../commands/transcript.ts")).transcript(session, persona, options),
    );

  define({
    signature: "diff <session>",
    description: "Print what a session changed, as `git apply` takes it",
    example: "maestro diff hello --stat",
  })
    .option("--phase <phase>", "only what this phase changed")
    .option("--persona <persona>", "only what this persona changed")
    .option("--attempt <n>", "with --persona: only the changes of this attempt (1 is the first)")
    .option("--against <session>", "compare with the files of this session instead of the base")
    .option("--stat", "print counts of lines instead")
    .action(async (session: string, options) =>
      (await import("../commands/deliver.ts")).diff(session, options),
    );

  define({
    signature: "branch <session> <name>",
    description: "Make a git branch of a session's work, with one commit for each phase",
    example: [
      "git init -q app && git -C app -c user.name=me -c user.email=me@example.org commit -q --allow-empty -m start",
      'maestro run "Say hello" --repo app --team hello.yaml --model simulated --key app',
      "maestro branch app maestro/app",
    ],
  })
    .option("--repo <folder>", "make it in this repository (default: the one that the session began with)")
    .option("--push <remote>", "push it to this remote, with your git credentials; never forced")
    .option("--pull-request", "open a pull request on GitHub for it (MAESTRO_GITHUB_TOKEN)")
    .action(async (session: string, name: string, options) =>
      (await import("../commands/deliver.ts")).branch(session, name, options),
    );

  define({
    signature: "apply <session>",
    description: "Bring a session's changes into its repository, or into another folder",
    example: "maestro apply hello --to . --force",
  })
    .option("--to <folder>", "the folder to change (default: the repository that the session began with)")
    .option("--force", "on conflicts, write the clean files, and both versions between markers")
    .action(async (session: string, options) =>
      (await import("../commands/deliver.ts")).apply(session, options),
    );

  define({
    signature: "watch <session>",
    description: "Follow a session live until it ends",
    example: "maestro watch hello",
  })
    .option("--after <seq>", "only events after this one (with --json or without a terminal)")
    .action(async (session: string, options) =>
      (await import("../commands/watch.ts")).watch(session, options),
    );

  // A single command, because a session can stand in place of a subcommand. A session with such a key is named by
  // its id.
  define({
    signature: "checkpoints",
    description:
      "List a session's checkpoints, verify them, export and import them, or restore them into the database",
    spins: true,
    example: ["maestro checkpoints verify hello", "maestro checkpoints restore hello"],
  })
    .addArgument(offering("<session>", Object.keys(subcommands)))
    .argument("[of]")
    .argument("[file]")
    .option("--trust", "with import: let the session run; without it, it can only be looked at")
    .usage(`${checkpointsUsage} [options]`)
    .action(checkpoints);

  define({
    signature: "usage",
    description: "Show tokens and cost, and what resume, reuse, cache and patches saved",
    spins: true,
    example: "maestro usage --by day --since 7d",
  })
    .option("--session <session>", "only this session")
    .addOption(choosing("--by <group>", "group by", usageGroups).default("persona"))
    .option("--since <time>", "since this day (2030-01-31) or for this long (24h, 7d)")
    .option("--csv", "print CSV; unknown values are empty fields")
    .action(async (options) => (await import("../commands/usage.ts")).usage(options));

  define({
    signature: "tickets",
    description: "List the tickets that sessions opened for help, and their delivery",
    spins: true,
    example: "maestro tickets",
  }).action(async (options: GlobalOptions) => (await import("../commands/tickets.ts")).tickets(options));
}

/** Like `offering`, for a flag. */
function choosing(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((value: string) => value);
}

const checkpointsUsage =
  "<session> | verify <session or file> | export <session> <file> | import <file> | restore <session>";

/** The operands that each subcommand of checkpoints needs. */
const subcommands: Readonly<Record<string, string>> = {
  verify: "a session or a file",
  export: "a session and a file",
  import: "a file",
  restore: "a session",
};

async function checkpoints(
  first: string,
  second: string | undefined,
  third: string | undefined,
  options: ImportFlags,
): Promise<void> {
  const commands = await import("../commands/checkpoints.ts");
  const needed = Object.hasOwn(subcommands, first) ? subcommands[first] : undefined;
  if (second === undefined && needed === undefined) return commands.checkpoints(first, options);
  if (first === "verify" && second !== undefined && third === undefined)
    return commands.verify(second, options);
  if (first === "import" && second !== undefined && third === undefined)
    return commands.importFrom(second, options);
  if (first === "restore" && second !== undefined && third === undefined)
    return commands.restore(second, options);
  if (first === "export" && second !== undefined && third !== undefined)
    return commands.exportTo(second, third, options);
  const what =
    needed === undefined
      ? `"checkpoints ${first}" is not a command.${didYouMean(first, Object.keys(subcommands))}`
      : `checkpoints ${first} needs ${needed}.`;
  throw new InputInvalid(what, { advice: `Usage: ${howStarted()} checkpoints ${checkpointsUsage}` });
}
