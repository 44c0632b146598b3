import { isName, nameRule } from "../../domain/names.ts";
import { object, optional, section, type Values } from "./fields.ts";
import {
  commandLine,
  type Kind,
  list,
  nameSchema,
  outsidePath,
  plain,
  reference,
  variableName,
  wholeNumber,
  yesOrNo,
} from "./kinds.ts";
import { shown } from "./shown.ts";

const address: Kind<string> = plain(
  "an address that begins with https:// or http://",
  { type: "string", pattern: "^https?://", maxLength: 2_000 },
  (value) => {
    if (typeof value !== "string" || value.length > 2_000 || !URL.canParse(value)) return undefined;
    const { protocol, username, password } = new URL(value);
    return (protocol === "https:" || protocol === "http:") && username === "" && password === ""
      ? value
      : undefined;
  },
);

const headers: Kind<Readonly<Record<string, string>>> = {
  allowed: "an object of headers; $NAME in a value stands for a variable of the environment",
  schema: { type: "object", additionalProperties: { type: "string" }, maxProperties: 50 },
  read: (value, place) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      place.problem(`is ${shown(value)}; it must be an object of headers.`);
      return undefined;
    }
    const wrong = Object.entries(value).find(
      ([name, text]) =>
        !/^[A-Za-z0-9-]{1,100}$/.test(name) || typeof text !== "string" || /[\r\n\0]/.test(text),
    );
    // The value is never shown, because it may be a secret.
    if (wrong !== undefined) place.at(wrong[0]).problem("is no header with a text as its value.");
    return wrong === undefined ? (value as Readonly<Record<string, string>>) : undefined;
  },
};

const outside = list(outsidePath, { allowed: "a list of absolute paths, or of paths that begin with ~/" });

export const mcpSection = section({
  name: "mcp",
  sentence:
    "One MCP server: `url` for one that runs elsewhere, or `command` for one that Maestro starts in the sandbox.",
  allowed: "an object with url or command",
  schema: { oneOf: [{ required: ["url"] }, { required: ["command"] }] },
  keys: {
    url: optional(address, {
      sentence: "The address of a server that speaks streamable HTTP.",
      example: "https://mcp.example/mcp",
      otherwise: "none",
    }),
    headers: optional(headers, {
      sentence: "Headers of each request. `$NAME` stands for a variable of the environment.",
      example: { authorization: "Bearer $EXAMPLE_TOKEN" },
      otherwise: "none",
    }),
    command: optional(commandLine, {
      sentence: "The program of a server that speaks over its standard input and output.",
      example: ["npx", "-y", "some-mcp"],
      otherwise: "none",
    }),
    env: optional(
      list(variableName, {
        allowed: "a list of names of environment variables; values come from the environment",
      }),
      {
        sentence: "Names of environment variables that the program gets.",
        example: ["DATABASE_URL"],
        otherwise: "none",
      },
    ),
    network: optional(yesOrNo, {
      sentence: "Whether the program has the network.",
      example: false,
      otherwise: "`true`",
    }),
    readable: optional(outside, {
      sentence: "Files and folders that the program may read.",
      example: ["~/notes"],
      otherwise: "none",
    }),
    writable: optional(outside, {
      sentence: "Files and folders that the program may change.",
      example: ["~/notes"],
      otherwise: "none",
    }),
    timeoutMs: optional(wholeNumber(1, 86_400_000), {
      sentence: "How long one call may take.",
      example: 600_000,
      otherwise: "300,000",
    }),
    repeatable: optional(
      list(reference("the name or glob of a tool"), { allowed: "a list of tools or globs" }),
      {
        sentence:
          "Tools whose calls may be repeated after a crash, where the server gives no hint: `readOnlyHint` and `idempotentHint` say the same.",
        example: ["query*"],
        otherwise: "as the server says",
      },
    ),
  },
});

export type McpServerDefinition = Values<typeof mcpSection.keys>;
export type McpDefinition = Readonly<Record<string, McpServerDefinition>>;

const one = object(mcpSection);
const onlyOfProgram = ["env", "network", "readable", "writable"] as const;

/** Servers by their names. */
export const mcpServers: Kind<McpDefinition> = {
  allowed: "an object of MCP servers by name",
  schema: { type: "object", propertyNames: nameSchema, additionalProperties: one.schema, maxProperties: 50 },
  read: (value, place) => {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      place.problem(`is ${shown(value)}; it must be an object of MCP servers by name.`);
      return undefined;
    }
    const servers = Object.entries(value).flatMap(([name, written]): [string, McpServerDefinition][] => {
      const at = place.at(name);
      if (!isName(name)) at.problem(`is no name for a server. ${nameRule}`, "key");
      const server = one.read(written, at);
      if (server === undefined) return [];
      if ((server.url === undefined) === (server.command === undefined))
        at.problem("needs either url or command.");
      if (server.command !== undefined && server.headers !== undefined)
        at.at("headers").problem("has no effect: the server is a program.", "key");
      for (const key of onlyOfProgram)
        if (server.url !== undefined && server[key] !== undefined)
          at.at(key).problem("has no effect: the server has an address.", "key");
      return [[name, server]];
    });
    return Object.fromEntries(servers.toSorted(([a], [b]) => (a < b ? -1 : 1)));
  },
};
