import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sha256 } from "../domain/canonical.ts";
import { newId } from "../domain/ids.ts";
import {
  type BareRequest,
  copyLayers,
  launchBare,
  makeHome,
  removeLayers,
  shareInHome,
} from "./bare-launch.ts";
import { ProcessGroup, SandboxedProcess } from "./confinement.ts";
import type { Launch } from "./launch.ts";
import type { LayerPart } from "./layers/layer.ts";
import type { ProxyOptions } from "./network/proxy.ts";
import { endMarked } from "./process-end.ts";
import { type CommandLimits, commandLimits } from "./process-limits.ts";
import { removeFolder } from "./remove-folder.ts";
import { type Bubblewrap, describeSandbox, type Sandbox, type SandboxRule } from "./sandbox.ts";
import { type LaunchRequest, launchInSandbox } from "./sandbox-launch.ts";
import type { PlaceOptions } from "./sandbox-places.ts";
import { type Ending, supervise } from "./supervise.ts";
import { unconfined } from "./unconfined.ts";

/** Settings shared by all launches of a state directory. */
export interface LaunchSettings {
  /** Default: required. `none` uses no sandbox even if there is one. */
  readonly sandbox?: SandboxRule | undefined;
  readonly limits?: CommandLimits | undefined;
  /** The user that root's commands become. Undefined: a different one for each launch. */
  readonly user?: (() => Promise<number | undefined>) | undefined;
}

export interface Command extends PlaceOptions, LaunchSettings {
  /** Program and arguments, without a shell. A program without a slash is found on the PATH. */
  readonly argv: readonly string[];
  /** The command's own folder, which is a copy for it alone: as root, Maestro changes its owner. */
  readonly directory: string;
  /** Added to a small environment of our own. Of Maestro's environment only the PATH is passed on. */
  readonly env?: Readonly<Record<string, string>> | undefined;
  readonly stdin?: string | Uint8Array | undefined;
  readonly timeoutMs: number;
  /** Limit for each of the two streams: its beginning and its end, with a note between them. */
  readonly maxOutputBytes: number;
  readonly signal: AbortSignal;
  /** `true`: the network of this machine. Hosts: only these, through a proxy. Only a sandbox enforces it. */
  readonly network: boolean | Pick<ProxyOptions, "reach" | "own">;
  /** Prepared dependencies. The command may write there, visible only to commands with the same `home`. */
  readonly layers?: readonly LayerPart[] | undefined;
  readonly writable: "workspace" | "nothing";
  /** A persistent folder for data that the command needs again. Undefined: an empty, temporary home. */
  readonly home?: string | undefined;
  /** Receives each piece as it arrives, unbounded. */
  readonly onOutput?: ((text: string, stream: "stdout" | "stderr") => void) | undefined;
}

/** `sandbox` records how it really ran: `network` and `writable` hold only in a sandbox. */
export type CommandResult = Ending & { readonly sandbox: Sandbox["kind"] };

/**
 * Runs an untrusted program. Throws if a sandbox is required and unavailable. When this returns, the program has
 * ended with everything that it started, which is certain only in a sandbox. Without one, processes that leave
 * their group and clear their environment escape, and everything does if Maestro itself is killed.
 */
export async function runCommand(
  command: Command,
  detect: () => Promise<Sandbox> = describeSandbox,
): Promise<CommandResult> {
  if (command.sandbox === "none") return { ...(await runBare(command)), sandbox: "none" };
  const sandbox = await detect();
  if (sandbox.kind === "none") throw unconfined(`${command.argv[0] ?? "A command"} was not started`, sandbox);
  return { ...(await runSandboxed(command, sandbox)), sandbox: sandbox.kind };
}

async function runSandboxed(command: Command, sandbox: Bubblewrap): Promise<Ending> {
  const { network } = command;
  if (typeof network === "boolean") return runLaunch(command, sandbox, network);
  const folder = await mkdtemp(join(tmpdir(), "maestro-proxy-"));
  try {
    const { NetworkProxy } = await import("./network/proxy.ts");
    const socket = join(folder, "socket");
    await using proxy = await NetworkProxy.listen({ ...network, socket });
    const ending = await runLaunch(command, sandbox, { socket });
    const { refused } = proxy;
    return ending.kind === "not-started" || refused.length === 0 ? ending : { ...ending, refused };
  } finally {
    await removeFolder(folder);
  }
}

async function runLaunch(
  command: Command,
  sandbox: Bubblewrap,
  network: LaunchRequest["network"],
): Promise<Ending> {
  const layers = { parts: command.layers ?? [], folder: layersOf(command) };
  const user = sandbox.identity === "other-user" ? await command.user?.() : undefined;
  try {
    const launch = await prepare(command, (request) =>
      launchInSandbox(sandbox, { ...request, network, layers, user }),
    );
    if (typeof launch === "string") return { kind: "not-started", reason: launch, permanent: true };
    return await supervise(launch, watched(command, command.home), (child) => new SandboxedProcess(child));
  } finally {
    // With a persistent home, the next run finds what this one wrote.
    if (layers.parts.length > 0 && command.home === undefined) await removeFolder(layers.folder);
  }
}

async function runBare(command: Command): Promise<Ending> {
  const { layers = [] } = command;
  const home = command.home ?? (await makeHome());
  // Named after the persistent home, so that a resume there ends the processes of a killed Maestro.
  const [name, id] = ["MAESTRO_COMMAND", command.home === undefined ? newId() : sha256(command.home)];
  const mark = `${name}=${id}`;
  try {
    if (command.home !== undefined) await endMarked(mark);
    await shareInHome(home, command);
    await copyLayers(layers, command.directory, home);
    const launch = await prepare(command, (request) =>
      launchBare({ ...request, env: { ...request.env, [name]: id } }, { home, layers }),
    );
    if (typeof launch === "string") return { kind: "not-started", reason: launch, permanent: true };
    return await supervise(launch, watched(command, home), (child) => new ProcessGroup(child, mark));
  } finally {
    await removeLayers(layers, command.directory, home);
    if (command.home === undefined) await removeFolder(home);
  }
}

/** Beside the command's folder, so that it is removed with it. */
export const layersOf = ({ directory }: Pick<Command, "directory">): string => `${directory}-layers`;

const watched = (command: Command, home: string | undefined) => ({
  ...command,
  limits: command.limits ?? commandLimits,
  folders: [
    command.directory,
    ...(home === undefined ? [] : [home]),
    ...(command.layers === undefined ? [] : [layersOf(command)]),
  ],
});

const environment = { LANG: "C.UTF-8", TZ: "UTC", CI: "true", NO_COLOR: "1" } as const;

async function prepare(
  {
    argv,
    directory,
    env,
    writable,
    visible,
    readable,
    writablePlaces,
    hidden,
    onlyInstalled,
    home,
    limits = commandLimits,
  }: Command,
  launch: (request: BareRequest) => Promise<Launch | string>,
): Promise<Launch | string> {
  const [program, ...args] = argv;
  if (program === undefined || program === "") return "no program is named";
  if ([...argv, ...Object.entries(env ?? {}).flat()].some((text) => text.includes("\0")))
    return "an argument or a variable has a zero byte";
  return launch({
    argv: [program, ...args],
    directory,
    env: { ...environment, ...env },
    writable,
    places: { visible, readable, writablePlaces, hidden, onlyInstalled },
    home,
    limits,
  });
}
