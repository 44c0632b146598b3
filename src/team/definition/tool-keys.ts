import { parseRule } from "../../personas/tools/approval-rules.ts";
import { defaultTools, namedTools } from "../../personas/tools/tool-table.ts";
import { parseHost } from "../../workspace/network/host-list.ts";
import { object, optional, required, section, type Values, withDefault } from "./fields.ts";
import { type Kind, list, oneOf, plain, set, variableName, wholeNumber } from "./kinds.ts";
import { mcpServers } from "./mcp-keys.ts";
import { toolList, toolsExample } from "./tool-list.ts";

const maxDayMs = 86_400_000;

const host: Kind<string> = plain(
  "a host such as registry.example, *.example.org or 127.0.0.1:4873",
  { type: "string", minLength: 1, maxLength: 260 },
  (value) => (typeof value === "string" && parseHost(value) !== undefined ? value.toLowerCase() : undefined),
);

/** Hosts that may be reached. */
export const hosts = set(host, { allowed: "a list of hosts, such as [registry.example]" });

const network: Kind<boolean | readonly string[]> = {
  allowed: "true, false or a list of hosts",
  schema: { anyOf: [{ type: "boolean" }, hosts.schema] },
  read: (value, place) => (typeof value === "boolean" ? value : hosts.read(value, place)),
};

const variables = list(variableName, {
  allowed: "a list of names of environment variables; values come from the environment",
});

export const shellSection = section({
  name: "shell",
  sentence: `How the commands of \`${namedTools.command}\` run.`,
  allowed: "an object with network, timeoutMs, env and effect",
  keys: {
    network: withDefault(network, false, {
      sentence:
        "Whether commands have the network: all of it, or only these hosts, through a proxy. Programs that ignore proxy variables then have none.",
      example: ["registry.example"],
    }),
    timeoutMs: withDefault(wholeNumber(1, maxDayMs), 120_000, {
      sentence: "How long one command may take.",
      example: 600_000,
    }),
    env: withDefault(variables, [], {
      sentence: "Names of environment variables that are passed through. Values come from the environment.",
      example: ["NODE_ENV"],
      otherwise: "none",
    }),
    effect: withDefault(oneOf("repeatable", "once"), "repeatable", {
      sentence: "Whether a command whose outcome a crash left unknown may be run again.",
      example: "once",
    }),
  },
});

export type ShellDefinition = Values<typeof shellSection.keys>;

/** The default shell of a persona. */
export const defaultShell: ShellDefinition = {
  network: false,
  timeoutMs: 120_000,
  env: [],
  effect: "repeatable",
};

export const webSection = section({
  name: "web",
  sentence: `What \`${namedTools.fetch}\` may read.`,
  allowed: "an object with allow",
  keys: {
    allow: required(
      {
        ...hosts,
        schema: { ...hosts.schema, minItems: 1 },
        read: (value, place) => {
          const read = hosts.read(value, place);
          if (read?.length === 0) place.problem("names no hosts.");
          return read;
        },
      },
      {
        sentence:
          "The hosts whose pages it may read. An address of this machine or its network is read only where it is named itself.",
        example: ["docs.example", "*.wiki.example"],
        missing: "names no hosts.",
      },
    ),
  },
});

export type WebDefinition = Values<typeof webSection.keys>;

export const webKey = optional(object(webSection), {
  sentence: `The web, for a persona whose \`tools\` name \`${namedTools.fetch}\`.`,
  example: { allow: ["docs.example"] },
  otherwise: "no page is read",
});

const commandRule = `${namedTools.command}:git push*`;

const approval: Kind<string> = plain(
  `a tool such as "github/create_*", or a tool and a pattern such as "${commandRule}"`,
  { type: "string", minLength: 1, maxLength: 1_000 },
  (value) => {
    if (typeof value !== "string" || value.length > 1_000) return undefined;
    const { tool, what } = parseRule(value);
    return tool === "" || what?.trim() === "" ? undefined : value;
  },
);

const approvals = set(approval, {
  allowed: `a list of calls, such as ["${commandRule}"]`,
});

/** Keys of a persona with tools: a model, or a function through `ctx.tools`. */
export const toolKeys = {
  tools: optional(toolList, {
    sentence: `The tools it is offered; in code also [your own](tools.md#your-own-tools). \`${namedTools.submit}\` is always among a model's.`,
    example: toolsExample,
    otherwise: defaultTools.map((name) => `\`${name}\``).join(", "),
  }),
  mcp: optional(mcpServers, {
    sentence:
      "Its own MCP servers by name, besides those of the team. `tools` names what it is offered of them: `db/*`.",
    example: { db: { command: ["npx", "-y", "some-mcp"], env: ["DATABASE_URL"] } },
    otherwise: "none",
  }),
  approve: optional(approvals, {
    sentence:
      "Calls that wait for a person's approval: a tool, or a tool and what it is called with, with `*` for any text.",
    example: [commandRule, "github/create_*"],
    otherwise: "none",
  }),
  shell: optional(object(shellSection), {
    sentence: `How commands run, for a persona whose \`tools\` name \`${namedTools.command}\`.`,
    example: { network: ["registry.example"], timeoutMs: 600_000 },
    otherwise: "no network, 120 s, no variables",
  }),
  web: webKey,
};
