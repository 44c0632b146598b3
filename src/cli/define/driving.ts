import { collect, type Define } from "./command.ts";

/** Commands that make sessions move. */
export function defineDriving(define: Define): void {
  define({
    signature: "demo",
    description:
      "offline: a simulated team builds a small real project, is killed in the middle, and goes on",
    example: "maestro demo",
  })
    .option("--out <folder>", "where the project and the state go (default: a new temporary folder)")
    .action(async (options) => (await import("../commands/demo.ts")).demo(options));

  define({
    signature: "run [brief]",
    description:
      "start a session and drive it; the same key goes on with it; the brief - is read from standard input",
    example: 'maestro run "Say hello" --team hello.yaml --model simulated --key hello',
  })
    .option("--team <file>", "the team: .ts, .js, .yaml or .json (default: the built-in software-delivery)")
    .option("--model <model>", "provider/model instead of the team's own, or simulated")
    .option("--key <key>", "your own name for the session; the same key goes on with it")
    .option("--out <folder>", "write the files here in the end; a resume remembers it")
    .option("--only <phases>", "only these phases, separated by commas")
    .option("--from <phase>", "begin with this phase")
    .option("--until <phase>", "end with this phase")
    .option("--pause-after <phases>", "stop for a review after these")
    .option("--given <phase=path>", "a phase done elsewhere: a folder, a file, or JSON", collect)
    .option("--budget-tokens <n>", "tokens the session may use, over all its resumes")
    .option("--budget-usd <x>", "dollars the session may spend, over all its resumes")
    .option("--detach", "go on in the background")
    .action(async (brief: string | undefined, options) =>
      (await import("../commands/run.ts")).run(brief, options),
    );

  define({
    signature: "resume <session>",
    description: "go on to the end; the team and the model are remembered",
    example: "maestro resume hello",
  })
    .option(
      "--edit <phase=path>",
      "put this in the place of what a phase left: a folder, one of its files, or JSON with outputs and files",
      collect,
    )
    .option("--team <file>", "where the team's file is now, if it moved or changed")
    .option("--model <model>", "another model from here on, in this process")
    .option("--accept-changes", "go on although the team has changed; unchanged personas keep their results")
    .option("--out <folder>", "write the files here in the end (default: where they were to go before)")
    .action(async (session: string, options) =>
      (await import("../commands/resume.ts")).resume(session, options),
    );

  define({
    signature: "serve",
    description: "HTTP API and dashboard; recovers and drives sessions",
    example: "maestro serve --team hello.yaml",
  })
    .option("--port <port>", "where it listens; 0 takes a free one (default: 4160)")
    .option("--host <address>", "on which address (default: 127.0.0.1)")
    .option("--team <file>", "a team that sessions may be started with; can be given several times", collect)
    .option("--link", "print a new link to the dashboard of the server that runs already, and end")
    .action(async (options) => (await import("../commands/serve.ts")).serve(options));

  define({
    signature: "phase <session> <name>",
    description: "one phase alone; a phase that is done stays done",
    example: "maestro phase hello greeting",
  })
    .option("--team <file>", "where the team's file is now")
    .option("--model <model>", "another model, in this process")
    .option("--out <folder>", "write the files here in the end (default: where they were to go before)")
    .action(async (session: string, name: string, options) =>
      (await import("../commands/resume.ts")).phase(session, name, options),
    );

  define({
    signature: "fork <session>",
    description:
      "a new session that takes over what comes before a phase and reuses what is unchanged after it",
    example: "maestro fork hello --at greeting --fresh",
  })
    .usage("<session> --at <phase> [options]")
    .requiredOption("--at <phase>", "the first phase that runs again")
    .option(
      "--edit <phase=path>",
      "put this in the place of what a phase left: a folder, one of its files, or JSON with outputs and files",
      collect,
    )
    .option("--fresh", "reuse nothing of what runs again")
    .option("--team <file>", "another team file")
    .option("--model <model>", "another model")
    .option("--key <key>", "your own name for the new session")
    .option("--budget-tokens <n>", "tokens the new session may use (default: as its parent)")
    .option("--budget-usd <x>", "dollars the new session may spend (default: as its parent)")
    .option("--out <folder>", "write the files here in the end")
    .option("--dry-run", "only say what would be reused and what it may cost")
    .action(async (session: string, options) => (await import("../commands/fork.ts")).fork(session, options));
}
