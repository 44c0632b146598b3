import { Argument } from "commander";
import { advise } from "../../domain/advice.ts";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { GlobalOptions } from "../open.ts";
import type { Define } from "./command.ts";

const phase = ["--phase <name>", "the phase, if more than one is waiting"] as const;

const call = ["--call <seq>", "a call that waits for approval, as `show` lists it"] as const;

/** Commands by which a person decides about a session. */
export function defineDeciding(define: Define): void {
  define({
    signature: "approve <session>",
    description: "Approve the phase that is waiting for review, or a call that waits for approval",
    spins: true,
    example: [
      'maestro run "Say hello" --team hello.yaml --key asked --pause-after greeting',
      'maestro approve asked --note "good"',
    ],
  })
    .usage("<session> [--phase <name> | --call <seq> [--arguments <json>]] [options]")
    .option(...phase)
    .option(...call)
    .option("--arguments <json>", "of the call, instead of those that the persona gave")
    .option("--note <text>", "reason, recorded in the journal")
    .action(async (session: string, options) =>
      (await import("../commands/signal.ts")).approve(session, options),
    );

  define({
    signature: "reject <session>",
    description: "Reject the phase that is waiting for review, or a call; your note says why",
    spins: true,
    example: [
      'maestro run "Say hello" --team hello.yaml --key doubted --pause-after greeting',
      'maestro reject doubted --note "shorter, please"',
    ],
  })
    .usage("<session> --note <text> [options]")
    .option(...phase)
    .option(...call)
    .requiredOption("--note <text>", "what to change; the result of a rejected call")
    .option("--repeat-effects", "let effects of the phase that happened happen again")
    .action(async (session: string, options) =>
      (await import("../commands/signal.ts")).reject(session, options),
    );

  define({
    signature: "answer <session> <seq> <text>",
    description: "Answer a question of a persona; resume follows",
    spins: true,
    example: ["maestro sessions", "maestro answer --help"],
  }).action(async (session: string, seq: string, text: string, options: GlobalOptions) =>
    (await import("../commands/signal.ts")).answer(session, seq, text, options),
  );

  define({
    signature: "settle <session> <step>",
    description: "Say whether an effect of unknown outcome happened; resume follows",
    spins: true,
    example: ["maestro sessions", "maestro settle --help"],
  })
    .usage("<session> <step> --happened [json] | --did-not-happen")
    .option(
      "--happened [json]",
      "it happened; the result of its step, such as '{\"id\": 7}'; empty by default",
    )
    .option("--did-not-happen", "it did not happen; a resume runs it")
    .action(async (session: string, step: string, options) =>
      (await import("../commands/signal.ts")).settle(session, step, options),
    );

  define({
    signature: "pause <session>",
    description: "Pause a session at its next step",
    spins: true,
    example: [
      "echo 'latencyMs: 2000' > slow.yaml",
      'MAESTRO_SIMULATED_SCRIPT=slow.yaml maestro run "Say hello" --team hello.yaml --key slow --detach',
      "maestro pause slow",
    ],
  }).action(async (session: string, options: GlobalOptions) =>
    (await import("../commands/signal.ts")).pause(session, options),
  );

  define({
    signature: "cancel <session>",
    description: "Cancel a session; it cannot be resumed",
    spins: true,
    example: [
      'maestro run "Say hello" --team hello.yaml --key unwanted --until greeting',
      "maestro cancel unwanted",
    ],
  }).action(async (session: string, options: GlobalOptions) =>
    (await import("../commands/signal.ts")).cancel(session, options),
  );

  define({
    signature: "budget <session>",
    description: "Show a session's budgets, or set one",
    spins: true,
    example: "maestro budget hello --tokens 200k",
  })
    .option("--persona <name>", "the budget of this persona")
    .option("--phase <name>", "the budget of this phase")
    .option("--tokens <n>", "new limit in tokens; `none` removes it")
    .option("--usd <x>", "new limit in dollars; `none` removes it")
    .action(async (session: string, options) =>
      (await import("../commands/budget.ts")).budget(session, options),
    );

  define({
    signature: "breakers",
    description: "Show the circuit breakers; `reset <name>` lets the next call through",
    spins: true,
    example: "maestro breakers",
  })
    .addArgument(offering("[action]", ["reset"]))
    .argument("[name]")
    .usage("[reset <name>] [options]")
    .action(async (action: string | undefined, name: string | undefined, options: GlobalOptions) => {
      const { breakers, resetBreaker } = await import("../commands/breakers.ts");
      if (action === undefined) return breakers(options);
      if (action === "reset" && name !== undefined) return resetBreaker(name, options);
      const what =
        action === "reset" ? "breakers reset needs a name." : `"breakers ${action}" is not a command.`;
      throw new InputInvalid(`${what}${action === "reset" ? "" : didYouMean(action, ["reset"])}`, {
        advice: advise("To let the next call through", "breakers", "reset", "<dependency>"),
      });
    });
}

/** Choices that completion offers; the command itself judges the value, with advice. */
export function offering(name: string, choices: readonly string[]): Argument {
  return new Argument(name).choices(choices).argParser((value: string) => value);
}
