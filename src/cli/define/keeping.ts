import type { GlobalOptions } from "../open.ts";
import type { Define } from "./command.ts";

/** The machine, its settings and its space. */
export function defineKeeping(define: Define): void {
  define({
    signature: "init",
    description: "write a team file that runs; asks what it should be, or takes flags",
    example: "maestro init --name hello --phases greeting,reply --model simulated --yes",
  })
    .option("--name <name>", "the team's name")
    .option("--out <file>", "the file to write (default: <name>.yaml)")
    .option("--model <model>", "provider/model, or simulated")
    .option("--phases <names>", "its phases, separated by commas")
    .option("--yes", "ask nothing")
    .option("--force", "write over a file that is there")
    .action(async (options) => (await import("../commands/init.ts")).init(options));

  define({
    signature: "doctor",
    description: "check Node, state, disk, sandbox, keys, providers and database, and say how to fix each",
    example: "maestro doctor --offline",
  })
    .option("--offline", "do not try to reach providers")
    .action(async (options) => (await import("../commands/doctor.ts")).doctor(options));

  define({
    signature: "prune",
    description: "remove finished sessions and what nobody needs any more",
    example: "maestro prune --older-than 30 --dry-run",
  })
    .option("--older-than <days>", "finished sessions not touched for this long", "30")
    .option("--keep <n>", "keep at most this many finished sessions")
    .option("--dry-run", "only say what would go")
    .option("--damaged <session>", "instead, remove this session, whose journal is damaged")
    .action(async (options) => (await import("../commands/prune.ts")).prune(options));

  define({
    signature: "config",
    description: "print each setting and where it came from",
    example: "maestro config",
  }).action(async (options: GlobalOptions) => (await import("../commands/config.ts")).config(options));
}
