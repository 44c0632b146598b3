import { advise } from "../../domain/advice.ts";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import type { Define } from "./command.ts";
import { offering } from "./deciding.ts";

/** Commands about the machine, its settings and its disk. */
export function defineKeeping(define: Define): void {
  define({
    signature: "init",
    description:
      "Write a team file that runs; asks for its name, phases and model unless flags give them. --repo writes one for a repository",
    example: "maestro init --name hello --phases greeting,reply --model simulated --yes",
  })
    .option("--name <name>", "name of the team")
    .option(
      "--repo <folder>",
      "write a team for this repository, with its setup, tests, lint, types and build",
    )
    .option("--out <file>", "file to write (default: <name>.yaml; team.yaml with --repo)")
    .option("--model <model>", "provider/model, or simulated")
    .option("--phases <names>", "its phases, separated by commas")
    .option("--yes", "ask nothing")
    .option("--force", "overwrite an existing file")
    .action(async (options) => (await import("../commands/init.ts")).init(options));

  define({
    signature: "doctor",
    description: "Check Node, state, disk, sandbox, keys, providers and database, and print how to fix each",
    spins: true,
    example: "maestro doctor --offline",
  })
    .option("--offline", "do not contact providers")
    .action(async (options) => (await import("../commands/doctor.ts")).doctor(options));

  define({
    signature: "prune",
    description: "Remove finished sessions and unreferenced files",
    spins: true,
    example: "maestro prune --older-than 30 --dry-run",
  })
    .option("--older-than <days>", "remove finished sessions that did not change for this long", "30")
    .option("--keep <n>", "keep at most this many finished sessions")
    .option("--dry-run", "only print what would be removed")
    .option("--damaged <session>", "remove only this session, whose journal is damaged")
    .action(async (options) => (await import("../commands/prune.ts")).prune(options));

  define({
    signature: "trust [folder]",
    description: "Trust the configuration and the teams of a folder, or one team file, until they change",
    example: "maestro trust .",
  })
    .option("--revoke", "trust the folder no longer, nor the folders in it")
    .action(async (folder: string | undefined, options) =>
      (await import("../commands/trust.ts")).trust(folder, options),
    );

  define({
    signature: "prices",
    description: "Show where prices of models come from; `update` reads the newest published ones",
    spins: true,
    example: "maestro prices --match claude",
  })
    .addArgument(offering("[action]", ["update"]))
    .option("--match <text>", "list the prices of models with this in their name")
    .option("--from <file or url>", "with update: read this table instead of the published one")
    .option("--allow-free", "with update: also when a price falls to almost nothing")
    .usage("[update] [options]")
    .action(async (action: string | undefined, options) => {
      const { prices, updatePriceTable } = await import("../commands/prices.ts");
      if (action === undefined) return prices(options);
      if (action === "update") return updatePriceTable(options);
      throw new InputInvalid(`"prices ${action}" is not a command.${didYouMean(action, ["update"])}`, {
        advice: advise("To read the newest prices", "prices", "update"),
      });
    });

  define({
    signature: "users",
    description: "List people with a token of their own; `add <name>` and `revoke <name>` change them",
    spins: true,
    example: ["maestro users add ada --role operator", "maestro users", "maestro users revoke ada"],
  })
    .addArgument(offering("[action]", ["list", "add", "revoke"]))
    .argument("[name]")
    .option("--role <role>", "with add: viewer, operator or admin")
    .option("--link", "with add: print a link that signs a browser in once, instead of a token")
    .option("--days <n>", "with add: days until it ends (default: until it is revoked; a link after one day)")
    .usage("[list | add <name> --role <role> | revoke <name>] [options]")
    .action(async (action: string | undefined, name: string | undefined, options) => {
      const { addOneUser, listUsers, revokeOneUser } = await import("../commands/users.ts");
      if (action === undefined || action === "list") return listUsers(options);
      if (name !== undefined && action === "add") return addOneUser(name, options);
      if (name !== undefined && action === "revoke") return revokeOneUser(name, options);
      const known = ["list", "add", "revoke"];
      throw new InputInvalid(
        known.includes(action)
          ? `users ${action} needs a name.`
          : `"users ${action}" is not a command.${didYouMean(action, known)}`,
        { advice: advise("See its actions", "users", "--help") },
      );
    });

  define({
    signature: "audit",
    description: "Show what people did on the server, and what was refused; the newest first",
    spins: true,
    example: "maestro audit",
  })
    .option("--person <name>", "acts of this person only")
    .option("--limit <n>", "at most this many", "100")
    .action(async (options) => (await import("../commands/audit.ts")).audit(options));

  define({
    signature: "config",
    description: "Print every setting, its value and its origin",
    example: "maestro config",
  }).action(async (options: GlobalOptions) => (await import("../commands/config.ts")).config(options));
}
