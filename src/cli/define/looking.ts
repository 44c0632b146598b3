import { Option } from "commander";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import type { Define } from "./command.ts";

/** Commands that only look. */
export function defineLooking(define: Define): void {
  define({
    signature: "sessions",
    description: "list sessions, newest first",
    example: "maestro sessions --status parked,failed",
  })
    .option("--status <statuses>", "only these, separated by commas")
    .option("--limit <n>", "at most this many", "50")
    .addOption(new Option("--names", "only keys and ids, for completion").hideHelp())
    .action(async (options) => (await import("../commands/sessions.ts")).sessions(options));

  define({
    signature: "show <session>",
    description: "one session in full: what is kept, what it costs, why it stopped, what to do",
    example: "maestro show hello",
  })
    .option("--out <folder>", "also write its files here")
    .option("--at <phase>", "with --out: the files as this phase left them; design@1 for an older revision")
    .action(async (session: string, options) => (await import("../commands/show.ts")).show(session, options));

  define({
    signature: "watch <session>",
    description: "what happens in a session, live, until it ends",
    example: "maestro watch hello",
  })
    .option("--after <seq>", "only what came after this event (with --json or without a terminal)")
    .action(async (session: string, options) =>
      (await import("../commands/watch.ts")).watch(session, options),
    );

  // One command, because a session's name may stand where a subcommand does; one that has such a key goes by its id.
  define({
    signature: "checkpoints <session> [of] [file]",
    description: "list a session's checkpoints, prove them, or carry them to another machine",
    example: "maestro checkpoints verify hello",
  })
    .usage("<session> | verify <session or file> | export <session> <file> | import <file> [options]")
    .action(checkpoints);

  define({
    signature: "usage",
    description: "tokens and money, with what resume, reuse, cache and patches saved",
    example: "maestro usage --by day --since 7d",
  })
    .option("--session <session>", "only of this one")
    .option("--by <what>", "persona, phase, model, session or day", "persona")
    .option("--since <time>", "from this day on (2030-01-31), or how long back (24h, 7d)")
    .option("--csv", "for a spreadsheet; what is not known is an empty field")
    .action(async (options) => (await import("../commands/usage.ts")).usage(options));

  define({
    signature: "tickets",
    description: "requests for help and where they are",
    example: "maestro tickets",
  }).action(async (options: GlobalOptions) => (await import("../commands/tickets.ts")).tickets(options));
}

const subcommands = ["verify", "export", "import"];

async function checkpoints(
  first: string,
  second: string | undefined,
  third: string | undefined,
  options: GlobalOptions,
): Promise<void> {
  const commands = await import("../commands/checkpoints.ts");
  if (second === undefined && !subcommands.includes(first)) return commands.checkpoints(first, options);
  if (first === "verify" && second !== undefined && third === undefined)
    return commands.verify(second, options);
  if (first === "import" && second !== undefined && third === undefined)
    return commands.importFrom(second, options);
  if (first === "export" && second !== undefined && third !== undefined)
    return commands.exportTo(second, third, options);
  const advice =
    "maestro checkpoints <session> | verify <session or file> | export <session> <file> | import <file>";
  const needed = { verify: "a session or a file", export: "a session and a file", import: "a file" }[first];
  if (needed !== undefined)
    throw new InputInvalid(`checkpoints ${first} needs ${needed}.`, { advice: `Usage: ${advice}` });
  const hint = didYouMean(first, subcommands);
  throw new InputInvalid(`"checkpoints ${first}" is not a command.${hint}`, { advice: `Usage: ${advice}` });
}
