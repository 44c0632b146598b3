import { access, lstat, readdir, readlink, realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, relative } from "node:path";
import { findProgram, searchPath } from "./find-program.ts";
import { isInside, systemFolders } from "./system-folders.ts";

/** The fixed path of a command's files in the sandbox, whatever the real folder. */
export const workspacePlace = "/workspace";
export const homePlace = "/tmp/home";

/** System settings that programs need; the other files hold keys, passwords and tokens. */
const settings = [
  "alternatives",
  "ca-certificates",
  "crypto-policies",
  "debian_version",
  "fonts",
  "host.conf",
  "hosts",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "magic",
  // Not its settings.xml, which may hold passwords.
  "maven/logging",
  "maven/m2.conf",
  "mime.types",
  "nsswitch.conf",
  "os-release",
  "pki/ca-trust",
  "pki/tls/certs",
  "protocols",
  "services",
  "shells",
  "ssl/certs",
  "ssl/openssl.cnf",
].map((name) => `/etc/${name}`);

/** Some languages store parts of themselves there, under versioned names. */
const languages = /^(?:java|jvm|perl|php|python|ruby)/;

/** The parts of the machine that a command sees besides its own files. */
export interface SandboxPlaces {
  /** Links in the root folder, such as /bin. */
  readonly links: readonly { readonly path: string; readonly target: string }[];
  /** Visible files and folders, under their own names. */
  readonly visible: readonly string[];
  /** Hidden, although they are inside a visible place. */
  readonly hidden: readonly string[];
  /** Paths that the team requests, as the command sees them. */
  readonly shared: readonly SharedPlace[];
  /** The PATH in the sandbox. */
  readonly programs: readonly string[];
  /** Variables with which programs find parts of themselves. */
  readonly env: Readonly<Record<string, string>>;
}

interface SharedPlace {
  readonly source: string;
  /** Its own path, or the same place in the command's home. */
  readonly path: string;
  readonly writable: boolean;
}

export interface PlaceOptions {
  /** Additional files and folders to show, read-only. */
  readonly visible?: readonly string[] | undefined;
  /** The same as people write it: absolute, or `~/...`, which is then in the command's own home. */
  readonly readable?: readonly string[] | undefined;
  /** Places that the command may change. */
  readonly writablePlaces?: readonly string[] | undefined;
  /** Nothing in these folders is shown, whatever path requests it. */
  readonly hidden?: readonly string[] | undefined;
  /** A program is found only on the PATH, because any other path would show files that no person named. */
  readonly onlyInstalled?: boolean | undefined;
}

/** The first requested path that leads into a hidden folder, also through a link. */
export async function hiddenPlace(
  { visible = [], readable = [], writablePlaces = [], hidden = [] }: PlaceOptions,
  install?: string,
): Promise<string | undefined> {
  const covered = [...hidden, ...(await realPaths(hidden))];
  const asked = [...visible, ...readable, ...writablePlaces, ...(install === undefined ? [] : [install])];
  for (const place of asked) {
    const path = fromHome(place, homedir());
    if ([path, ...(await realPaths([path]))].some((each) => isInside(each, covered))) return place;
  }
  return undefined;
}

export async function findPlaces(options: PlaceOptions = {}): Promise<SandboxPlaces> {
  const links: { path: string; target: string }[] = [];
  const folders: string[] = [];
  for (const path of systemFolders) {
    const status = await lstat(path).catch(() => undefined);
    if (status?.isSymbolicLink()) links.push({ path, target: await readlink(path) });
    else if (status?.isDirectory()) folders.push(path);
  }
  const parts = (await readdir("/etc").catch(() => [])).filter((name) => languages.test(name));
  const system = [...folders, ...(await existing([...settings, ...parts.map((name) => join("/etc", name))]))];
  const rust = await rustFiles();
  const more = (await existing([...(await nodeFiles()), ...rust.visible, ...(options.visible ?? [])])).filter(
    (path) => !isInside(path, system),
  );
  const visible = [...system, ...more];
  const shared = [...(await sharedPlaces(options))];
  const really = await realPaths(options.hidden ?? []);
  const linked = await Promise.all(
    visible.map(async (path) => ({ path, source: (await realPaths([path]))[0] ?? path })),
  );
  const hidden = [...linked, ...shared].flatMap((place) =>
    really.flatMap((path) => seenThrough(place, path)),
  );
  const isThere = (folder: string): boolean =>
    isInside(folder, [...visible, ...links.map(({ path }) => path)]);
  const programs = [dirname(process.execPath), ...searchPath().filter((folder) => isThere(folder))];
  return {
    links,
    visible,
    hidden: [...new Set(hidden)],
    shared,
    programs: [...new Set(programs)],
    env: rust.env,
  };
}

async function sharedPlaces({ readable = [], writablePlaces = [] }: PlaceOptions): Promise<SharedPlace[]> {
  const written = [
    ...readable.map((place) => ({ place, writable: false })),
    ...writablePlaces.map((place) => ({ place, writable: true })),
  ];
  const found: SharedPlace[] = [];
  for (const { place, writable } of written) {
    const source = await realpath(fromHome(place, homedir())).catch(() => undefined);
    if (source !== undefined) found.push({ source, path: fromHome(place, homePlace), writable });
  }
  // Outer folders first, because a later mount covers an earlier one.
  return found.toSorted((one, other) => one.path.length - other.path.length);
}

/** `~/x` in this home; any other path unchanged. */
export const fromHome = (place: string, home: string): string =>
  place.startsWith("~/") ? join(home, place.slice(2)) : place;

/** The path that a mount gives to a path inside it. */
function seenThrough(
  { source, path: shownAt }: Pick<SharedPlace, "source" | "path">,
  path: string,
): string[] {
  return isInside(path, [source]) ? [join(shownAt, relative(source, path))] : [];
}

/** Node itself may be installed anywhere, even in a home. Includes npm, npx and globally installed packages. */
async function nodeFiles(): Promise<string[]> {
  const folder = dirname(process.execPath);
  const packages = join(dirname(folder), "lib", "node_modules");
  const [npm] = await existing([join(packages, "npm")]);
  return npm === undefined ? [process.execPath] : [folder, packages];
}

/** Rustup's programs are links to rustup, which finds the real ones in its home. None of this contains credentials. */
async function rustFiles(): Promise<{
  readonly visible: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}> {
  const rustup = await findProgram("rustup", searchPath());
  const home = process.env["RUSTUP_HOME"] ?? join(homedir(), ".rustup");
  if (rustup === undefined || !isAbsolute(home)) return { visible: [], env: {} };
  const folder = dirname(rustup);
  const [real, cargo] = await Promise.all([rustup, join(folder, "cargo")].map((path) => realPaths([path])));
  // Any other folder may hold more than the programs of Rust.
  return { visible: [...(real?.[0] === cargo?.[0] ? [folder] : []), home], env: { RUSTUP_HOME: home } };
}

/** Existing paths only. */
async function realPaths(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map((path) => realpath(path).catch(() => undefined)));
  return found.filter((path) => path !== undefined);
}

async function existing(paths: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const path of paths) {
    const isThere = await access(path).then(
      () => true,
      () => false,
    );
    if (isThere && isAbsolute(path)) found.push(path);
  }
  return found;
}
