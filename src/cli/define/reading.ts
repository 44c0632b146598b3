import { Option } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { sessionStatuses } from "../../journal/standing.ts";
import { howStarted } from "../how-started.ts";
import type { GlobalOptions } from "../open.ts";
import { usageGroups } from "../read-flags.ts";
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
    signature: "watch <session>",
    description: "Follow a session live until it ends",
    example: "maestro watch hello",
  })
    .option("--after <seq>", "only events after this one (with --json or without a terminal)")
    .action(async (session: string, options) =>
      (await import("../commands/watch.ts")).watch(session, options),
    );

  // One command, because a session can stand where a subcommand does. A session with such a key is named by its id.
  define({
    signature: "checkpoints",
    description: "List a session's checkpoints, verify them, or export and import them",
    spins: true,
    example: "maestro checkpoints verify hello",
  })
    .addArgument(offering("<session>", Object.keys(subcommands)))
    .argument("[of]")
    .argument("[file]")
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

/** As `offering`, for a flag. */
function choosing(flags: string, description: string, choices: readonly string[]): Option {
  return new Option(flags, description).choices(choices).argParser((value: string) => value);
}

const checkpointsUsage = "<session> | verify <session or file> | export <session> <file> | import <file>";

/** The operands that each subcommand of checkpoints needs. */
const subcommands: Readonly<Record<string, string>> = {
  verify: "a session or a file",
  export: "a session and a file",
  import: "a file",
};

async function checkpoints(
  first: string,
  second: string | undefined,
  third: string | undefined,
  options: GlobalOptions,
): Promise<void> {
  const commands = await import("../commands/checkpoints.ts");
  const needed = Object.hasOwn(subcommands, first) ? subcommands[first] : undefined;
  if (second === undefined && needed === undefined) return commands.checkpoints(first, options);
  if (first === "verify" && second !== undefined && third === undefined)
    return commands.verify(second, options);
  if (first === "import" && second !== undefined && third === undefined)
    return commands.importFrom(second, options);
  if (first === "export" && second !== undefined && third !== undefined)
    return commands.exportTo(second, third, options);
  const what =
    needed === undefined
      ? `"checkpoints ${first}" is not a command.${didYouMean(first, Object.keys(subcommands))}`
      : `checkpoints ${first} needs ${needed}.`;
  throw new InputInvalid(what, { advice: `Usage: ${howStarted()} checkpoints ${checkpointsUsage}` });
}
