import { agentNames } from "../../personas/command/agent.ts";
import { permissionLevels } from "../../personas/command/agent-launch.ts";
import { providers } from "../../personas/model/provider-table.ts";
import { budget } from "./contract-keys.ts";
import { optional, withDefault } from "./fields.ts";
import { commandLine, type Kind, list, oneOf, outsidePath, uniqueVariables, yesOrNo } from "./kinds.ts";

const outsidePaths = (): Kind<readonly string[]> =>
  list(outsidePath, { allowed: "a list of absolute paths, or of paths that begin with ~/" });

/** Keys of a persona whose work is done by a command-line agent. */
export const commandKeys = {
  reserve: withDefault(budget, null, {
    sentence:
      "The most that one run may cost. Needed under a budget: a command reports its cost only afterwards.",
    example: { tokens: 50_000, usd: 2 },
    otherwise: "none",
  }),
  network: withDefault(yesOrNo, true, {
    sentence: "Whether the command has the network. Most agents call a model on it.",
    example: false,
  }),
  env: withDefault(uniqueVariables, [], {
    sentence: "Names of environment variables that are passed through. Values come from the environment.",
    example: [providers.anthropic.keyVariable],
    otherwise: "none",
  }),
  readable: optional(outsidePaths(), {
    sentence: "Files and folders outside the workspace that it may read. `~/` is the user's home.",
    example: ["~/.config/agent"],
    otherwise: "none",
  }),
  writable: optional(outsidePaths(), {
    sentence: "Files and folders outside the workspace that it may change.",
    example: ["~/.cache/agent"],
    otherwise: "none",
  }),
};

/** Keys of a persona that is an agent by name. */
export const agentKeys = {
  agent: optional(oneOf(...agentNames), {
    sentence:
      "A coding agent by its name, instead of its command line. Its key and the address of its provider are passed on.",
    example: "claude",
    otherwise: "none",
  }),
  permissions: optional(oneOf(...permissionLevels), {
    sentence: "What the agent may do: read files, change files, or also run any command.",
    example: "full",
    otherwise: "`edit`",
  }),
};

export const commandKey = optional(commandLine, {
  sentence: "The program and its arguments. There is no shell; a relative program is found in the workspace.",
  example: ["claude", "-p"],
  otherwise: "none",
});
