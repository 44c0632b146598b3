import { readFileSync } from "node:fs";
import { Command } from "commander";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { GlobalOptions } from "./open.ts";

/** Every command with its options and one example that works offline. What they do is loaded when they are called. */
export function buildProgram(): Command {
  const program = new Command("maestro")
    .description("Runs teams of AI personas and never loses, repeats or overpays for what is already done.")
    .version(version(), "-V, --version", "print the version")
    .exitOverride()
    .showSuggestionAfterError()
    .showHelpAfterError("See: maestro --help")
    .configureHelp({ showGlobalOptions: true });
  const command = (signature: string, description: string, example: string): Command =>
    program
      .command(signature)
      .description(description)
      .option("--state-dir <folder>", "where sessions live (default: /var/maestro/state)")
      .option("--json", "print JSON on standard output")
      .option("--debug", "show the stack of an error")
      .addHelpText("after", `\nExample:\n  $ ${example}`);

  command(
    "demo",
    "offline: a small team builds a project, is killed in the middle, and goes on",
    "maestro demo",
  ).action(async (options: GlobalOptions) => (await import("./commands/demo.ts")).demo(options));
  command("run [brief]", "start a session and drive it", 'maestro run "hello" --team examples/hello.ts')
    .requiredOption("--team <file>", "the team: a module whose default export is a team")
    .option("--key <key>", "your own name for the session; the same key goes on with it")
    .option("--model <model>", "the model instead of the team's")
    .action(async (brief: string | undefined, options) =>
      (await import("./commands/run.ts")).run(brief, options),
    );
  command("resume <session>", "go on to the end (id or key)", "maestro resume my-key")
    .option("--team <file>", "where the team's file is now, if it moved")
    .action(async (session: string, options) => (await import("./commands/run.ts")).resume(session, options));
  command("sessions", "list sessions, newest first", "maestro sessions")
    .option("--status <status>", "only these (separated by commas)")
    .option("--limit <n>", "at most this many", "50")
    .action(async (options) => (await import("./commands/sessions.ts")).sessions(options));
  command("show <session>", "one session in full", "maestro show my-key").action(
    async (session: string, options: GlobalOptions) =>
      (await import("./commands/show.ts")).show(session, options),
  );
  // `checkpoints <s>` and `checkpoints verify <s or file>`: one command, because a session may not be called "verify".
  command(
    "checkpoints <session> [of]",
    "list a session's checkpoints; with `verify`, prove them",
    "maestro checkpoints verify my-key",
  )
    .usage("<session> | verify <session or file> [options]")
    .action(async (first: string, second: string | undefined, options: GlobalOptions) => {
      const { checkpoints, verify } = await import("./commands/checkpoints.ts");
      if (second === undefined) return checkpoints(first, options);
      if (first !== "verify")
        throw new InputInvalid(`"checkpoints ${first}" is not a command.${didYouMean(first, ["verify"])}`);
      return verify(second, options);
    });
  command("pause <session>", "stop a session at its next step", "maestro pause my-key").action(
    async (session: string, options: GlobalOptions) =>
      (await import("./commands/say.ts")).pause(session, options),
  );
  command("cancel <session>", "stop a session for good", "maestro cancel my-key").action(
    async (session: string, options: GlobalOptions) =>
      (await import("./commands/say.ts")).cancel(session, options),
  );
  command(
    "breakers [action] [name]",
    "state of dependencies; `reset <name>` lets the next call through",
    "maestro breakers",
  )
    .usage("[reset <name>] [options]")
    .action(async (action: string | undefined, name: string | undefined, options: GlobalOptions) => {
      const { breakers, resetBreaker } = await import("./commands/breakers.ts");
      if (action === undefined) return breakers(options);
      if (action !== "reset" || name === undefined) {
        throw new InputInvalid(`"breakers ${action}" is not a command.${didYouMean(action, ["reset"])}`, {
          advice: "To let the next call through: maestro breakers reset <name>",
        });
      }
      return resetBreaker(name, options);
    });
  command("tickets", "requests for help and where they are", "maestro tickets").action(
    async (options: GlobalOptions) => (await import("./commands/tickets.ts")).tickets(options),
  );
  command(
    "prune",
    "remove finished sessions and what nobody needs any more",
    "maestro prune --older-than 30 --dry-run",
  )
    .option("--older-than <days>", "finished sessions not touched for this long", "30")
    .option("--keep <n>", "keep at most this many finished sessions")
    .option("--dry-run", "only say what would go")
    .action(async (options) => (await import("./commands/prune.ts")).prune(options));
  command("config", "print each setting and where it came from", "maestro config").action(
    async (options: GlobalOptions) => (await import("./commands/config.ts")).config(options),
  );
  return program;
}

function version(): string {
  const { version } = JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")) as {
    version: string;
  };
  return version;
}
