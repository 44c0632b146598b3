import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import type { Define } from "./command.ts";

/** A person's word. */
export function defineDeciding(define: Define): void {
  define({
    signature: "approve <session>",
    description: "what comes after the phase that waits for a review may rest on it",
    example: [
      'maestro run "Say hello" --team hello.yaml --key asked --pause-after greeting',
      'maestro approve asked --note "good"',
    ],
  })
    .option("--phase <name>", "this one, when more than one waits")
    .option("--note <text>", "why; it is recorded")
    .action(async (session: string, options) =>
      (await import("../commands/say.ts")).approve(session, options),
    );

  define({
    signature: "reject <session>",
    description: "the phase that waits for a review runs again, with your note",
    example: [
      'maestro run "Say hello" --team hello.yaml --key doubted --pause-after greeting',
      'maestro reject doubted --note "shorter, please"',
    ],
  })
    .usage("<session> --note <text> [options]")
    .option("--phase <name>", "this one, when more than one waits")
    .requiredOption("--note <text>", "what should be different")
    .action(async (session: string, options) =>
      (await import("../commands/say.ts")).reject(session, options),
    );

  define({
    signature: "pause <session>",
    description: "stop a session at its next step",
    example: [
      "echo 'latencyMs: 2000' > slow.yaml",
      'MAESTRO_SIMULATED_SCRIPT=slow.yaml maestro run "Say hello" --team hello.yaml --key slow --detach',
      "maestro pause slow",
    ],
  }).action(async (session: string, options: GlobalOptions) =>
    (await import("../commands/say.ts")).pause(session, options),
  );

  define({
    signature: "cancel <session>",
    description: "stop a session for good",
    example: [
      'maestro run "Say hello" --team hello.yaml --key unwanted --until greeting',
      "maestro cancel unwanted",
    ],
  }).action(async (session: string, options: GlobalOptions) =>
    (await import("../commands/say.ts")).cancel(session, options),
  );

  define({
    signature: "budget <session>",
    description: "show a session's budgets, or set one",
    example: "maestro budget hello --tokens 200k",
  })
    .option("--persona <name>", "of this persona")
    .option("--phase <name>", "of this phase")
    .option("--tokens <n>", "the new limit, in tokens; none takes it away")
    .option("--usd <x>", "the new limit, in dollars; none takes it away")
    .action(async (session: string, options) =>
      (await import("../commands/budget.ts")).budget(session, options),
    );

  define({
    signature: "breakers [action] [name]",
    description: "state of dependencies; `reset <name>` lets the next call through",
    example: "maestro breakers",
  })
    .usage("[reset <name>] [options]")
    .action(async (action: string | undefined, name: string | undefined, options: GlobalOptions) => {
      const { breakers, resetBreaker, resetCommand } = await import("../commands/breakers.ts");
      if (action === undefined) return breakers(options);
      if (action === "reset" && name !== undefined) return resetBreaker(name, options);
      const what =
        action === "reset" ? "breakers reset needs a name." : `"breakers ${action}" is not a command.`;
      throw new InputInvalid(`${what}${action === "reset" ? "" : didYouMean(action, ["reset"])}`, {
        advice: `To let the next call through: ${resetCommand("<name>", options.stateDir)}`,
      });
    });
}
