import type { Command } from "commander";
import { collect, type Define } from "./command.ts";

const edit = [
  "--edit <phase=path>",
  "replace a phase's output: a folder, one of its files, or JSON with outputs and files",
] as const;

const sandbox = [
  "--sandbox <rule>",
  "required (default) or none: checks and agents then run as your user, on all your files",
] as const;

const logging = (command: Command): Command =>
  command
    .option("--log-format <format>", "log to standard error as text (default) or json")
    .option("--log-level <level>", "least level to log: debug, info (default), warn or error");

/** Commands that run sessions. */
export function defineDriving(define: Define): void {
  define({
    signature: "demo",
    description:
      "Offline demo: a simulated team builds a small project, is killed halfway, and resumes in a new process",
    example: "maestro demo",
  })
    .option("--out <folder>", "folder for the project and the state (default: a new temporary folder)")
    .option("--repo", "fix a failing test in a small git repository, and deliver a branch")
    .action(async (options) => (await import("../commands/demo.ts")).demo(options));

  logging(
    define({
      signature: "run [brief]",
      description: "Start a session, or resume the one with this key. `-` reads the brief from stdin",
      example: 'maestro run "Say hello" --team hello.yaml --model simulated --key hello',
    })
      .option(
        "--team <file>",
        "team file: .ts, .js, .yaml or .json (default: the built-in software-delivery)",
      )
      .option("--model <model>", "provider/model instead of the team's own, or simulated")
      .option("--key <key>", "your name for the session; a second run with it resumes the session")
      .option("--out <folder>", "write the files here at the end; later resumes remember it")
      .option("--only <phases>", "run only these phases, separated by commas")
      .option("--from <phase>", "start at this phase")
      .option("--until <phase>", "stop after this phase")
      .option("--pause-after <phases>", "park for review after these phases, separated by commas")
      .option(
        "--attach <file>",
        "an image or text that belongs to the brief; can be repeated, and models see it",
        collect,
      )
      .option("--given <phase=path>", "use existing output for a phase: a folder, a file, or JSON", collect)
      .option(
        "--repo <folder>",
        "work on the files of this git repository, with changes that are not committed",
      )
      .option("--ref <ref>", "with --repo: work on the files of this branch, tag or commit instead")
      .option(
        "--branch <name>",
        "deliver a completed session as this git branch; {key} and {id} are replaced",
      )
      .option("--apply", "deliver it into the files of the repository")
      .option("--patch <file>", "deliver it as a patch file")
      .option("--push <remote>", "push the branch to this remote, with your git credentials")
      .option("--pull-request", "open a pull request on GitHub for the branch (MAESTRO_GITHUB_TOKEN)")
      .option("--budget-tokens <n>", "token budget of the session, over all its resumes")
      .option("--budget-usd <x>", "dollar budget of the session, over all its resumes")
      .option("--queue <name>", "queue of a new session, for limits (default: default)")
      .option("--priority <n>", "priority of a new session among those that wait for a place (default: 0)")
      .option(...sandbox)
      .option("--detach", "run in the background"),
  ).action(async (brief: string | undefined, options, command: Command) =>
    (await import("../commands/run.ts")).run(brief, options, command),
  );

  logging(
    define({
      signature: "resume <session>",
      description: "Resume a session with its recorded team and model",
      example: "maestro resume hello",
    })
      .option(...edit, collect)
      .option("--note <text>", "a note for the next attempts of what is unfinished")
      .option("--team <file>", "new path of the team file, if it moved or changed")
      .option("--model <model>", "use another model from here on, in this process")
      .option("--trust", "let an imported session run; `show` lists what it would run, read and send")
      .option(
        "--accept-changes",
        "resume although the team has changed; unchanged personas keep their results",
      )
      .option("--out <folder>", "write the files here at the end (default: the folder of the last run)")
      .option(...sandbox),
  ).action(async (session: string, options) =>
    (await import("../commands/resume.ts")).resume(session, options),
  );

  logging(
    define({
      signature: "serve",
      description: "Serve the HTTP API and the dashboard; recover and run sessions",
      example: "maestro serve --team hello.yaml",
    })
      .option("--port <port>", "port to listen on; 0 picks a free one (default: 4160)")
      .option("--host <address>", "address to listen on (default: 127.0.0.1)")
      .option("--public-url <url>", "address under which people reach it, where that is not its own")
      .option("--tls-cert <file>", "PEM file with its certificate; with --tls-key it speaks TLS")
      .option("--tls-key <file>", "PEM file with the private key of the certificate")
      .option("--team <file>", "a team that sessions can use; can be repeated", collect)
      .option(
        "--repo-root <folder>",
        "let sessions start with the repositories in this folder; can be repeated",
        collect,
      )
      .option(...sandbox)
      .option("--link", "print a new dashboard link for the running server, and exit"),
  ).action(async (options) => (await import("../commands/serve.ts")).serve(options));

  logging(
    define({
      signature: "mcp",
      description: "Serve an MCP client, such as Claude Code or an IDE, on standard input and output",
      example: "maestro mcp --team hello.yaml < /dev/null",
    })
      .option("--team <file>", "a team that sessions can use; can be repeated", collect)
      .option(
        "--repo-root <folder>",
        "let sessions start with the repositories in this folder; can be repeated",
        collect,
      )
      .option(...sandbox),
  ).action(async (options) => (await import("../commands/mcp.ts")).mcp(options));

  define({
    signature: "phase <session> <name>",
    description: "Run one phase; a completed phase does not run again",
    example: "maestro phase hello greeting",
  })
    .option("--team <file>", "new path of the team file")
    .option("--model <model>", "use another model, in this process")
    .option("--out <folder>", "write the files here at the end (default: the folder of the last run)")
    .option(...sandbox)
    .action(async (session: string, name: string, options) =>
      (await import("../commands/resume.ts")).phase(session, name, options),
    );

  define({
    signature: "fork <session>",
    description: "Create a session that keeps the phases before one and reuses unchanged results after it",
    example: "maestro fork hello --at greeting --fresh",
  })
    .usage("<session> --at <phase> [options]")
    .requiredOption("--at <phase>", "the first phase that runs again")
    .option(...edit, collect)
    .option("--fresh", "reuse nothing from the phases that run again")
    .option("--repeat-effects", "let effects that happened in those phases happen again")
    .option("--team <file>", "another team file")
    .option("--model <model>", "another model")
    .option("--key <key>", "your name for the new session")
    .option("--budget-tokens <n>", "token budget of the new session (default: its parent's)")
    .option("--budget-usd <x>", "dollar budget of the new session (default: its parent's)")
    .option("--out <folder>", "write the files here at the end")
    .option(...sandbox)
    .option("--dry-run", "only print what would be reused and what it may cost")
    .action(async (session: string, options, command: Command) =>
      (await import("../commands/fork.ts")).fork(session, options, command),
    );
}
