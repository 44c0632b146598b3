import { isAbsolute } from "node:path";
import { quote } from "../domain/advice.ts";
import { isProvider, providers } from "../personas/model/provider-table.ts";
import { builtInNames, serverPatterns } from "../personas/tools/offered-tools.ts";
import { namedTools } from "../personas/tools/tool-table.ts";
import { isInSystem } from "../workspace/system-folders.ts";
import { isPattern } from "./definition/is-pattern.ts";
import { leadsOut } from "./definition/source-keys.ts";
import type { PersonaDefinition, TeamDefinition } from "./definition/team-definition.ts";
import { defaultShell } from "./definition/tool-keys.ts";
import { isFound } from "./find-setup.ts";

/** A command, file, address or other access that a team needs. */
export interface Demand {
  readonly kind: DemandKind;
  /** Null for a demand of the team itself. */
  readonly persona: string | null;
  /** The command line, variable, path or model; null for code. */
  readonly what: string | null;
  /** For people: on one line, without control characters. */
  readonly sentence: string;
  /** Whether it reaches beyond the sandbox, so that a person must trust the team first. */
  readonly needsTrust: boolean;
}

/**
 * - `program`: a command does a persona's work
 * - `variable`: a program gets an environment variable
 * - `read`, `write`: a program may use a file or folder outside the workspace
 * - `server`: an MCP server gets what a model sends it
 * - `web`: a model reads pages, and the addresses that it asks for reach their hosts
 * - `code`: a function of a team module runs in Maestro's own process
 * - `model`: a model gets the brief and the files
 * - `check`: a command judges the files, without the network where there is a sandbox
 * - `source`: files of a repository outside the team's own folder go into its sessions
 * - `secret`: a file goes to a persona or to checks although it looks like a secret
 * - `push`: the work is sent to a remote of the repository, with the user's credentials
 */
export type DemandKind =
  | "program"
  | "server"
  | "web"
  | "variable"
  | "read"
  | "write"
  | "code"
  | "model"
  | "check"
  | "source"
  | "secret"
  | "push";

type Demanded = Omit<Demand, "persona" | "sentence"> & { readonly says: string };

/** All demands of a team, in the order of its personas. */
export function demandsOf(definition: TeamDefinition): readonly Demand[] {
  const demands = [
    ...demandsOfSource(definition.source),
    ...definition.phases.flatMap(({ personas }) =>
      personas.flatMap((persona) => demandsOfPersona(persona, definition)),
    ),
  ];
  // A persona may work in several phases.
  return [
    ...new Map(
      [
        ...demandsOfSetup(definition),
        ...demandsOfPlanning(definition),
        ...demands,
        ...demandsOfDelivery(definition),
      ].map((demand) => [JSON.stringify(demand), demand]),
    ).values(),
  ];
}

/**
 * The team's command runs on the session's files and could send them anywhere through the network, even to a single
 * public host. A setup that a lockfile implies needs no trust, even if the team writes it down.
 */
function demandsOfSetup({ setup }: TeamDefinition): readonly Demand[] {
  if (setup === undefined || setup === false) return [];
  return setup.flatMap((one): readonly Demand[] => {
    const { run, network, env } = one;
    const command = shownCommand(run);
    const hosts = network === true ? "every public host" : network === false ? "" : network.join(", ");
    const reach = hosts === "" ? "" : `, reaching ${oneLine(hosts)}`;
    return [
      {
        kind: "program",
        persona: "setup",
        what: command,
        sentence: `setup installs dependencies${reach}: ${command}`,
        needsTrust: network !== false && !isFound(one),
      },
      ...outsidePrograms(run).map(
        ({ says, ...demand }): Demand => ({ ...demand, persona: "setup", sentence: `setup ${says}` }),
      ),
      ...env.map(
        (variable): Demand => ({
          kind: "variable",
          persona: "setup",
          what: variable,
          sentence: `setup passes the environment variable ${oneLine(variable)} to ${shownCommand(run.slice(0, 1))}`,
          needsTrust: true,
        }),
      ),
    ];
  });
}

/** A model that chooses the phases reads the brief before any persona works. */
function demandsOfPlanning({ planning, model }: TeamDefinition): readonly Demand[] {
  if (planning !== "model") return [];
  const sentence = `planning sends the brief to ${addressee(model)}`;
  return [{ kind: "model", persona: "planning", what: model, sentence, needsTrust: false }];
}

/**
 * The demands that a person must trust before a team from a file may run. Without a sandbox, they include every
 * program.
 */
export const demandsTrust = (definition: TeamDefinition, sandbox: "required" | "none"): readonly Demand[] =>
  demandsOf(definition).filter(
    ({ kind, needsTrust }) => needsTrust || (sandbox === "none" && (kind === "check" || kind === "program")),
  );

function demandsOfSource(source: TeamDefinition["source"]): readonly Demand[] {
  if (source === undefined) return [];
  const { git, checksOnly } = source;
  const outside: Demand = {
    kind: "source",
    persona: null,
    what: git,
    sentence: `Its sessions read the repository ${quote(oneLine(git))}, outside the folder of the team file`,
    needsTrust: true,
  };
  const secrets = checksOnly.map(
    (glob): Demand => ({
      kind: "secret",
      persona: null,
      what: glob,
      sentence: `Its checks read ${quote(oneLine(glob))}, which may hold secrets`,
      needsTrust: true,
    }),
  );
  return [...(leadsOut(git) ? [outside] : []), ...secrets];
}

/** The team is delivered, not its personas. */
function demandsOfDelivery({ deliver }: TeamDefinition): readonly Demand[] {
  const remote = deliver?.push ?? (deliver?.pullRequest ? "origin" : undefined);
  if (remote === undefined) return [];
  const request = deliver?.pullRequest ? " and opens a pull request on GitHub" : "";
  const sentence = `The team pushes its branch to the remote ${quote(oneLine(remote))}${request}`;
  return [{ kind: "push", persona: null, what: remote, sentence, needsTrust: true }];
}

function demandsOfPersona(persona: PersonaDefinition, team: TeamDefinition): readonly Demand[] {
  const { name, contract, policy } = persona;
  const secrets = (policy.read ?? [])
    .filter((file) => !isPattern(file))
    .map(
      (file): Demanded => ({
        kind: "secret",
        what: file,
        says: `reads ${quote(oneLine(file))}, even if it holds secrets`,
        needsTrust: true,
      }),
    );
  const checks = contract.checks.flatMap(({ name: check, run, env = [] }): readonly Demanded[] => [
    {
      kind: "check",
      what: shownCommand(run),
      says: `checks its files (${check}): ${shownCommand(run)}`,
      needsTrust: false,
    },
    ...outsidePrograms(run),
    ...env.map((variable) => passes(variable, run)),
  ]);
  return [
    ...demandsOfWork(persona, team),
    ...demandsOfShell(persona),
    ...demandsOfServers(persona, team),
    ...demandsOfWeb(persona, team),
    ...secrets,
    ...checks,
  ].map(({ says, ...demand }) => ({
    ...demand,
    persona: name,
    sentence: `${oneLine(name)} ${says}`,
  }));
}

/** A server receives the model's arguments, and its answers reach the model. */
function demandsOfServers({ tools, mcp }: PersonaDefinition, team: TeamDefinition): readonly Demanded[] {
  const used = new Set(serverPatterns(tools).map((pattern) => pattern.split("/", 1)[0] ?? ""));
  const servers = Object.entries({ ...team.mcp, ...mcp }).filter(([name]) => used.has(name));
  return servers.flatMap(([name, server]): readonly Demanded[] => {
    const {
      url,
      headers = {},
      command = [],
      env = [],
      readable = [],
      writable = [],
      network = true,
    } = server;
    const to = `the MCP server ${oneLine(name)}`;
    const names = Object.values(headers).flatMap((text) =>
      [...text.matchAll(/\$([A-Za-z_][A-Za-z0-9_]*)/g)].map(([, variable = ""]) => variable),
    );
    const reached: Demanded =
      url === undefined
        ? {
            kind: "program",
            what: shownCommand(command),
            says: `starts ${to}${network ? " with the network" : ""}: ${shownCommand(command)}`,
            needsTrust: network,
          }
        : { kind: "server", what: url, says: `calls ${to} at ${oneLine(url)}`, needsTrust: true };
    return [
      reached,
      ...outsidePaths(command),
      ...[...env, ...names].map(
        (variable): Demanded => ({
          kind: "variable",
          what: variable,
          says: `passes the environment variable ${oneLine(variable)} to ${to}`,
          needsTrust: true,
        }),
      ),
      ...readable.map((path) => outside("read", "reads", path)),
      ...writable.map((path) => outside("write", "reads and changes", path)),
    ];
  });
}

function demandsOfWeb({ tools, web }: PersonaDefinition, team: TeamDefinition): readonly Demanded[] {
  if (!builtInNames(tools).includes(namedTools.fetch)) return [];
  const hosts = oneLine(((web ?? team.web)?.allow ?? []).join(", "));
  return [{ kind: "web", what: hosts, says: `reads pages of ${hosts}`, needsTrust: true }];
}

/** Commands that a model or a function chooses. Without network and variables they can do no more than a check. */
function demandsOfShell({ tools, shell = defaultShell }: PersonaDefinition): readonly Demanded[] {
  if (!builtInNames(tools).includes(namedTools.command)) return [];
  const { network, env } = shell;
  const reach =
    network === true
      ? " with the network"
      : network === false
        ? ""
        : ` that reach ${oneLine(network.join(", "))}`;
  return [
    {
      kind: "program",
      what: namedTools.command,
      says: `runs commands of its own choice${reach}`,
      needsTrust: network !== false,
    },
    ...env.map(
      (variable): Demanded => ({
        kind: "variable",
        what: variable,
        says: `passes the environment variable ${oneLine(variable)} to its commands`,
        needsTrust: true,
      }),
    ),
  ];
}

function demandsOfWork({ work }: PersonaDefinition, team: TeamDefinition): readonly Demanded[] {
  if (work.kind === "model") return demandsOfModel(work.model ?? team.model, work.fallbackModels);
  if (work.kind === "function") {
    return [{ kind: "code", what: null, says: "runs code of its team module", needsTrust: true }];
  }
  const { argv, network, env, readable = [], writable = [] } = work;
  const command = shownCommand(argv);
  // The network reaches this machine's own services too, and the program can send its input anywhere.
  const reach = network ? " with the network" : "";
  return [
    { kind: "program", what: command, says: `runs a program${reach}: ${command}`, needsTrust: network },
    ...outsidePrograms(argv),
    ...env.map((variable) => passes(variable, argv)),
    ...readable.map((path) => outside("read", "reads", path)),
    ...writable.map((path) => outside("write", "reads and changes", path)),
  ];
}

const passes = (variable: string, argv: readonly string[]): Demanded => ({
  kind: "variable",
  what: variable,
  says: `passes the environment variable ${oneLine(variable)} to ${shownCommand(argv.slice(0, 1))}`,
  needsTrust: true,
});

const outside = (kind: "read" | "write", verb: string, path: string): Demanded => ({
  kind,
  what: path,
  says: `${verb} ${quote(oneLine(path))}, outside the workspace`,
  needsTrust: true,
});

/**
 * A server sees its own package wherever it is installed, and a team could declare any file as part of it. Files
 * that every command sees need no trust.
 */
const outsidePaths = (argv: readonly string[]): readonly Demanded[] =>
  argv
    .filter((argument) => isAbsolute(argument) && !isInSystem(argument))
    .map((path) => outside("read", "reads", path));

/** A command sees a program given by path, together with its package. */
const outsidePrograms = (argv: readonly string[]): readonly Demanded[] => outsidePaths(argv.slice(0, 1));

/** The address and key of a model come from the environment, never from the team. */
function demandsOfModel(model: string | null, fallbacks: readonly string[]): readonly Demanded[] {
  return [model, ...fallbacks].map((name) => ({
    kind: "model",
    what: name,
    says: `sends the brief and its files to ${addressee(name)}`,
    needsTrust: false,
  }));
}

function addressee(model: string | null): string {
  if (model === null) return "the model that --model or MAESTRO_MODEL names";
  const [provider = ""] = model.split("/", 1);
  if (!isProvider(provider)) return oneLine(model);
  const { baseUrlVariable, defaultBaseUrl } = providers[provider];
  const otherwise = defaultBaseUrl === undefined ? "" : `, otherwise ${defaultBaseUrl}`;
  return `${oneLine(model)} (${baseUrlVariable}${otherwise})`;
}

const longestCommand = 1_000;

/** Shown exactly, without redaction: a stranger could disguise a command as a secret. */
function shownCommand(argv: readonly string[]): string {
  const command = oneLine(argv.map(quote).join(" "));
  const rest = command.length - longestCommand;
  return rest > 0 ? `${command.slice(0, longestCommand)}… and ${rest} more characters` : command;
}

/** Text that hides or reorders itself on a terminal must not hide demands from a person. */
const oneLine = (text: string): string =>
  text.replaceAll(/[\p{C}\p{Zl}\p{Zp}]/gu, (character) => {
    const code = character.codePointAt(0) ?? 0;
    return `\\u{${code.toString(16)}}`;
  });
