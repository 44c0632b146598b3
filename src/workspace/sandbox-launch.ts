import { lstat, mkdir, realpath } from "node:fs/promises";
import { dirname, isAbsolute, join, relative } from "node:path";
import { findInstall, type Install } from "./find-install.ts";
import { findProgram, searchPath } from "./find-program.ts";
import type { Launch } from "./launch.ts";
import { type LayerPart, programsOf } from "./layers/layer.ts";
import { makeViews, mountWords, type PartView } from "./layers/private-view.ts";
import { viewMethod } from "./layers/view-kind.ts";
import { type ProxyAccess, proxyMounts, proxyVariables, relayWords } from "./network/proxy-place.ts";
import { type CommandLimits, limitingWords, temporaryBytes } from "./process-limits.ts";
import { threadsOf } from "./process-memory.ts";
import type { Bubblewrap, SandboxRule } from "./sandbox-kind.ts";
import {
  findPlaces,
  fromHome,
  hiddenPlace,
  homePlace,
  type PlaceOptions,
  type SandboxPlaces,
  workspacePlace,
} from "./sandbox-places.ts";
import { passingUser } from "./sandbox-user.ts";
import { isInside } from "./system-folders.ts";
import { takeOver } from "./take-over.ts";

export interface LaunchRequest {
  readonly argv: readonly [string, ...string[]];
  readonly directory: string;
  readonly env: Readonly<Record<string, string>>;
  readonly writable: "workspace" | "nothing";
  readonly network: boolean | ProxyAccess;
  readonly places: PlaceOptions;
  /** A persistent folder. Undefined: an empty, temporary home. */
  readonly home?: string | undefined;
  readonly limits: CommandLimits;
  readonly layers: LayerRequest;
  /** The user that root's commands become. Undefined: a different one for each launch. */
  readonly user?: number | undefined;
}

/** Prepared dependencies, and the folder for this command's own view of them. */
export interface LayerRequest {
  readonly parts: readonly LayerPart[];
  readonly folder: string;
}

/** A text says why nothing can be started. */
export async function launchInSandbox(
  sandbox: Bubblewrap,
  { argv, directory, env, writable, network, places: options, home, limits, layers, user }: LaunchRequest,
): Promise<Launch | string> {
  const known = await findPlaces(options);
  const tools = await programFolders(layers.parts);
  const isKnown = await isThere(argv[0], known, tools);
  const install = isKnown ? undefined : await findInstall(argv[0], searchPath(), options.onlyInstalled);
  if (!isKnown && install === undefined) return `${argv[0]} is not installed`;
  const refused = await hiddenPlace(options, install?.root);
  if (refused !== undefined)
    return `${refused} is in the state directory of Maestro, which programs may not see`;
  const { visible = [] } = options;
  const places =
    install === undefined ? known : await findPlaces({ ...options, visible: [...visible, install.root] });
  const programs = [
    ...tools.map(({ shown }) => shown),
    ...places.programs,
    ...(install === undefined ? [] : [dirname(install.path)]),
  ];
  const isOther = sandbox.identity === "other-user";
  const uid = isOther ? (user ?? passingUser()) : (process.getuid?.() ?? 0);
  await makePlaces(layers.parts, directory, home);
  if (home !== undefined) await makeHomeFolders(home, foldersInHome(pathsOf(places.shared)));
  if (isOther) for (const folder of [directory, home ?? directory]) await takeOver(folder, uid);
  const { passwd, group } = sandboxUsers(uid);
  const isProxied = typeof network === "object";
  const { views, before } = await viewsOf(layers, sandbox, isOther ? uid : undefined);
  const words = sandboxArguments(sandbox, {
    directory: await realpath(directory),
    writable,
    network,
    places,
    home,
    install,
    uid,
    limits,
    views,
    running: user === undefined ? 0 : threadsOf(uid),
  });
  const all = [...before, sandbox.program];
  return {
    file: all[0] ?? sandbox.program,
    args: [...all.slice(1), ...words, ...(isProxied ? relayWords() : []), ...argv],
    directory: "/",
    env: {
      PATH: programs.join(":"),
      HOME: homePlace,
      ...places.env,
      ...(isProxied && proxyVariables),
      ...env,
    },
    descriptors: [undefined, passwd, group],
  };
}

/** Whether a command with this name can be found at all. A path in the workspace is not checked here. */
export async function isInstalledHere(
  program: string,
  rule: SandboxRule | undefined,
  options: PlaceOptions,
): Promise<boolean> {
  if (program.includes("/") && !isAbsolute(program)) return true;
  if ((await findInstall(program, searchPath())) !== undefined) return true;
  return rule !== "none" && (await isThere(program, await findPlaces(options), []));
}

interface ProgramFolder {
  readonly source: string;
  readonly shown: string;
}

async function programFolders(parts: readonly LayerPart[]): Promise<readonly ProgramFolder[]> {
  const found: ProgramFolder[] = [];
  for (const part of parts) {
    const folder = await programsOf(part);
    if (folder !== undefined)
      found.push({ source: join(part.source, folder), shown: join(placeOf(part), folder) });
  }
  return found;
}

const placeOf = ({ place }: Pick<LayerPart, "place">): string =>
  place.startsWith("~/") ? fromHome(place, homePlace) : join(workspacePlace, place);

/** Creates the mount folders of layers before they are given to the command's user. */
async function makePlaces(
  parts: readonly LayerPart[],
  directory: string,
  home: string | undefined,
): Promise<void> {
  for (const { place } of parts) {
    const root = place.startsWith("~/") ? home : directory;
    const path = place.replace(/^~\//, "");
    if (root !== undefined) await mkdir(join(root, path), { recursive: true });
  }
}

async function viewsOf(
  { parts, folder }: LayerRequest,
  sandbox: Bubblewrap,
  uid: number | undefined,
): Promise<{ readonly views: readonly PartView[]; readonly before: readonly string[] }> {
  if (parts.length === 0) return { views: [], before: [] };
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const { kind, programs } = await viewMethod(folder, sandbox);
  const views = await makeViews(parts, folder, kind, uid);
  if (kind === "copy" && uid !== undefined) await takeOver(folder, uid);
  return { views, before: mountWords(views, kind, programs) };
}

/**
 * Checked before the start, because a missing program has its own error. A path in the workspace is not checked
 * here.
 */
async function isThere(
  program: string,
  { programs, visible, links }: SandboxPlaces,
  tools: readonly ProgramFolder[],
): Promise<boolean> {
  if (isAbsolute(program))
    return isInside(program, [...visible, ...links.map(({ path }) => path), workspacePlace]);
  if (program.includes("/")) return true;
  const folders = [...tools.map(({ source }) => source), ...programs.filter(isAbsolute)];
  return (await findProgram(program, folders)) !== undefined;
}

interface SandboxRequest {
  readonly directory: string;
  readonly writable: "workspace" | "nothing";
  readonly network: boolean | ProxyAccess;
  readonly places: SandboxPlaces;
  /** The folder that is the command's home. Undefined: an empty, temporary one. */
  readonly home?: string | undefined;
  /** The program's installation, if it is outside the system folders. */
  readonly install?: Install | undefined;
  /** The command's user. */
  readonly uid: number;
  readonly limits: CommandLimits;
  readonly views: readonly PartView[];
  /** Running processes of the same user, which the kernel counts together. */
  readonly running: number;
}

/** Descriptors that bubblewrap inherits and the command does not. */
export const sandboxDescriptors = { status: 3, passwd: 4, group: 5 } as const;

/** The arguments before a confined command. Order matters, because later mounts cover earlier ones. */
function sandboxArguments(sandbox: Bubblewrap, request: SandboxRequest): string[] {
  const { directory, writable, network, places, home, install, views } = request;
  const shown = places.visible;
  const shared = places.shared.filter(({ path }) => !isInside(path, [homePlace])).map(({ path }) => path);
  const links = install === undefined || isInside(install.path, shown) ? [] : [install];
  const named = [...shown, ...shared, ...links.map(({ path }) => path)];
  const bind = writable === "workspace" ? "--bind" : "--ro-bind";
  const mounts: string[][] = [
    ...places.links.map(({ path, target }) => ["--symlink", target, path]),
    ["--proc", "/proc", "--dev", "/dev"],
    ...["/dev/shm", "/tmp"].map((path) => temporary(sandbox, path)),
    ["--dir", "/run", "--dir", "/var", "--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run"],
    home === undefined ? ["--perms", "0777", "--dir", homePlace] : ["--bind", home, homePlace],
    ...(home === undefined ? emptyFolders(foldersInHome(pathsOf(places.shared))) : []),
    ...foldersOf(named).map((path) => ["--dir", path]),
    ...shown.map((path) => ["--ro-bind", path, path]),
    ...links.map(({ path, target }) => ["--symlink", target, path]),
    ...places.shared.map(({ source, path, writable: mayWrite }) => [
      mayWrite ? "--bind" : "--ro-bind",
      source,
      path,
    ]),
    ["--perms", "0644", "--ro-bind-data", String(sandboxDescriptors.passwd), "/etc/passwd"],
    ["--perms", "0644", "--ro-bind-data", String(sandboxDescriptors.group), "/etc/group"],
    ...places.hidden.map((path) => ["--tmpfs", path, "--remount-ro", path]),
    network === true ? ["--ro-bind-try", "/etc/resolv.conf", "/etc/resolv.conf"] : [],
    typeof network === "object" ? proxyMounts(network) : [],
    [bind, directory, workspacePlace, "--chdir", workspacePlace],
    ...(home === undefined ? emptyFolders(foldersInHome(views.map(placeOf))) : []),
    ...views.map((view) => ["--bind", view.shown, placeOf(view)]),
    // bubblewrap covers /proc/sys only if it considers it writable, which it misjudges as root.
    ...["/proc", "/dev", "/"].map((path) => ["--remount-ro", path]),
  ];
  return [
    ["--die-with-parent", "--new-session", "--json-status-fd", String(sandboxDescriptors.status)],
    ["--unshare-ipc", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try", "--hostname", "sandbox"],
    network === true ? [] : ["--unshare-net"],
    rights(sandbox),
    ...mounts,
    ["--"],
    otherUser(sandbox, request.uid),
    limitingWords(
      sandbox.prlimit,
      { ...request.limits, processes: request.limits.processes + request.running },
      true,
    ),
  ].flat();
}

/** Files that bubblewrap reads from descriptors. They list the sandbox's only users. */
function sandboxUsers(uid: number): { readonly passwd: string; readonly group: string } {
  const gid = process.getgid?.() ?? uid;
  const own = uid === 0 ? "" : `maestro:x:${uid}:${uid}::${homePlace}:/bin/sh\n`;
  return {
    passwd: `root:x:0:0::${homePlace}:/bin/sh\n${own}`,
    group: `root:x:0:\n${[...new Set([uid, gid])].map((id) => (id === 0 ? "" : `group${id}:x:${id}:\n`)).join("")}`,
  };
}

function rights({ identity, version }: Bubblewrap): string[] {
  const none = ["--cap-drop", "ALL"];
  // Capabilities to enter the workspace, which already belongs to the other user, and to become that user. All are
  // dropped by the change.
  const toChange = ["CAP_DAC_READ_SEARCH", "CAP_SETUID", "CAP_SETGID"];
  if (identity === "other-user") return [...none, ...toChange.flatMap((name) => ["--cap-add", name])];
  if (identity === "same-user") return none;
  return ["--unshare-user", ...(isAtLeast(version, 0, 8) ? ["--disable-userns"] : []), ...none];
}

function otherUser({ identity, setpriv }: Bubblewrap, uid: number): string[] {
  if (identity !== "other-user" || setpriv === undefined) return [];
  return [setpriv, `--reuid=${uid}`, `--regid=${uid}`, "--clear-groups", "--inh-caps=-all", "--"];
}

function temporary({ version }: Bubblewrap, path: string): string[] {
  const size = isAtLeast(version, 0, 7) ? ["--size", String(temporaryBytes)] : [];
  return ["--perms", "1777", ...size, "--tmpfs", path];
}

/** Created by name, because folders that bubblewrap creates itself are closed to another user. */
function foldersOf(paths: readonly string[]): string[] {
  const folders = new Set<string>();
  for (const path of paths) {
    for (let folder = dirname(path); folder !== "/"; folder = dirname(folder)) folders.add(folder);
  }
  return [...folders].filter((folder) => !paths.includes(folder)).sort();
}

/** Folders above what is mounted into the home, and below the home. Left to bubblewrap, they would be closed to the command. */
const foldersInHome = (paths: readonly string[]): readonly string[] =>
  foldersOf(paths.filter((path) => isInside(path, [homePlace]))).filter(
    (folder) => folder !== homePlace && isInside(folder, [homePlace]),
  );

const pathsOf = (shared: SandboxPlaces["shared"]): readonly string[] => shared.map(({ path }) => path);

const emptyFolders = (folders: readonly string[]): string[][] =>
  folders.map((folder) => ["--perms", "0777", "--dir", folder]);

/** Outer folders come first. An earlier command may have put a link there, which must not lead out of the home. */
async function makeHomeFolders(home: string, folders: readonly string[]): Promise<void> {
  for (const folder of folders) {
    const path = join(home, relative(homePlace, folder));
    if (await hasLink(home, path)) continue;
    await mkdir(path, { mode: 0o700 }).catch(ignoreExisting);
  }
}

async function hasLink(home: string, path: string): Promise<boolean> {
  for (let folder = dirname(path); folder.length > home.length; folder = dirname(folder))
    if (!(await lstat(folder)).isDirectory()) return true;
  return false;
}

function ignoreExisting(error: NodeJS.ErrnoException): void {
  if (error.code !== "EEXIST") throw error;
}

function isAtLeast(version: string, major: number, minor: number): boolean {
  const [theirMajor = 0, theirMinor = 0] = version.split(".").map(Number);
  return theirMajor > major || (theirMajor === major && theirMinor >= minor);
}
