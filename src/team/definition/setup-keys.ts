import { parseHost } from "../../workspace/network/host-list.ts";
import { type Options, object, required, section, type Values, withDefault } from "./fields.ts";
import { commandLine, glob, type Kind, list, plain, set, uniqueVariables, wholeNumber } from "./kinds.ts";

// The keys of setup. team-keys.ts has the others.

const maxDayMs = 86_400_000;

const host: Kind<string> = plain(
  "a host such as registry.example, *.example or 10.0.0.5:4873",
  { type: "string", pattern: "^[^\\s/]+$", maxLength: 260 },
  (value) => (typeof value === "string" && parseHost(value) !== undefined ? value : undefined),
);

const hosts = set(host, { allowed: "true, false, or a list of hosts", most: 100 });

const network: Kind<boolean | readonly string[]> = {
  allowed: hosts.allowed,
  schema: { anyOf: [{ type: "boolean" }, hosts.schema] },
  read: (value, place) => (typeof value === "boolean" ? value : hosts.read(value, place)),
};

/** A folder of the workspace, or of the command's home. */
const keptFolder: Kind<string> = plain(
  "a folder of the workspace, a glob for such folders, or ~/ and a folder of the home",
  { anyOf: [glob.schema, { type: "string", pattern: "^~/(?!(?:.*/)?\\.{1,2}(?:/|$))[^/\\u0000]" }] },
  (value) => {
    if (typeof value !== "string" || value.includes("\0")) return undefined;
    const path = value.replace(/\/+$/, "");
    const parts = path.replace(/^~\//, "").split("/");
    const isOpen = parts.some((part) => part === "" || part === "." || part === ".." || part === ".git");
    return isOpen || /^(?:[/\\]|~$|[A-Za-z]:)|[\n\r]/.test(path) || path.length > 1_000 ? undefined : path;
  },
);

export const setupSection = section({
  name: "setup",
  sentence:
    "Prepares dependencies before the first phase. Sessions that begin with the same files share the result.",
  allowed: "an object with run, inputs and keep, a list of them, or off",
  hints: { command: "Write run instead.", files: "Write inputs instead.", cache: "Write keep instead." },
  keys: {
    run: required(commandLine, {
      sentence: "The program and its arguments. There is no shell.",
      example: ["npm", "ci"],
    }),
    inputs: required(list(glob, { allowed: "a list of globs" }), {
      sentence:
        "Files that decide what is installed. It runs again when one of them changes, and sees no other change of a persona.",
      example: ["package-lock.json"],
      missing: "has no inputs: name the lockfile.",
      orEmpty: true,
    }),
    keep: required(set(keptFolder, { allowed: "a list of folders" }), {
      sentence: "Folders that checks, commands and agents see afterwards. `~/` is the home of the command.",
      example: ["node_modules"],
      missing: "has no keep: name the folder that it fills.",
      orEmpty: true,
    }),
    network: withDefault(network, false, {
      sentence:
        "`true` reaches every public host, a list only these. This machine and its network are reached where the list has their address.",
      example: true,
    }),
    env: withDefault(uniqueVariables, [], {
      sentence:
        "Names of environment variables that are passed through. Their values are hidden in its output.",
      example: ["NPM_TOKEN"],
      otherwise: "none",
    }),
    timeoutMs: withDefault(wholeNumber(1, maxDayMs), 600_000, {
      sentence: "How long it may take.",
      example: 1_200_000,
    }),
  },
});

export type SetupDefinition = Values<typeof setupSection.keys>;
type SetupOptions = Options<typeof setupSection.keys>;

const one = object(setupSection);
const most = 20;

/** False: nothing is prepared, even if there is a lockfile. */
export const setups: Kind<
  false | readonly SetupDefinition[],
  false | "off" | SetupOptions | readonly SetupOptions[]
> = {
  allowed: setupSection.allowed,
  schema: {
    anyOf: [
      { enum: ["off", false] },
      one.schema,
      { type: "array", items: one.schema, minItems: 1, maxItems: most },
    ],
  },
  read: (value, place) => {
    if (value === false || value === "off") return false;
    if (Array.isArray(value)) return list(one, { allowed: setupSection.allowed, most }).read(value, place);
    const read = one.read(value, place);
    return read && [read];
  },
};
