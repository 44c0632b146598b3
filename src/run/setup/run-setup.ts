import { lstat, mkdir, mkdtemp, readdir, readFile, realpath, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { redact } from "../../domain/redact.ts";
import type { Tree } from "../../domain/tree.ts";
import { showPath } from "../../domain/tree-path.ts";
import { reach } from "../../store/fault-points.ts";
import { isPattern } from "../../team/definition/is-pattern.ts";
import type { SetupDefinition } from "../../team/definition/setup-keys.ts";
import { type FoundSetup, registriesIn } from "../../team/find-setup.ts";
import type { BlobStore } from "../../workspace/blobs.ts";
import { type CommandResult, type LaunchSettings, runCommand } from "../../workspace/command.ts";
import { type ExtraFiles, secretsOf, withExtraFiles } from "../../workspace/extra-files.ts";
import { globMatcher } from "../../workspace/glob.ts";
import type { MadePart } from "../../workspace/layers/layer-store.ts";
import { removeFolder } from "../../workspace/remove-folder.ts";
import { ownerMark } from "../../workspace/scratch.ts";
import { materialize } from "../../workspace/write-tree.ts";
import { userCertificates, userRegistries } from "./user-registries.ts";

const maxOutputBytes = 16 * 1024 * 1024;
/** A shorter value would hide ordinary text. */
const leastSecret = 4;

/** Where setups run. */
export interface SetupPlace {
  readonly blobs: BlobStore;
  readonly stateDirectory: string;
  readonly launch: LaunchSettings;
  readonly env: NodeJS.ProcessEnv;
}

/** The initial files of a setup's folder. */
export interface SetupFiles {
  readonly tree: Tree;
  /** Files with secrets beside those of the tree. No layer may hold them. */
  readonly extra: ExtraFiles;
}

export type SetupEnd = { readonly output: string; readonly durationMs: number } & (
  | { readonly kind: "prepared" }
  /** `why` is the end of a sentence whose subject is the command. */
  | { readonly kind: "failed"; readonly why: string; readonly refused: readonly string[] }
  | { readonly kind: "aborted" }
);

/**
 * Install scripts are off where a persona chose the packages. pip then installs only what needs no building, because a
 * build is a script of the package.
 */
const withoutScripts = {
  npm_config_ignore_scripts: "true",
  YARN_ENABLE_SCRIPTS: "false",
  PIP_ONLY_BINARY: ":all:",
  UV_NO_BUILD: "1",
  COMPOSER_NO_SCRIPTS: "1",
} as const;

/** Runs a setup on a copy of the files and hands over the folders that it filled. */
export async function runSetup(
  setup: SetupDefinition & Pick<FoundSetup, "folder">,
  { tree, extra }: SetupFiles,
  scripts: "on" | "off",
  place: SetupPlace,
  signal: AbortSignal,
  keep: (parts: readonly MadePart[]) => Promise<void>,
): Promise<SetupEnd> {
  const scratch = join(place.stateDirectory, "scratch");
  await mkdir(scratch, { recursive: true, mode: 0o700 });
  const folder = await mkdtemp(join(scratch, await ownerMark()));
  try {
    const [directory, home] = [join(folder, "workspace"), join(folder, "home")];
    await mkdir(home, { mode: 0o700 });
    const whole = withExtraFiles(tree, place.blobs, extra);
    await materialize(whole.tree, whole.blobs, directory);
    reach?.("scratch:after-copy");
    const registries = await userRegistries(place.env);
    const certificates = await userCertificates(place.env);
    for (const [path, text] of registries.files) {
      await mkdir(dirname(join(home, path)), { recursive: true, mode: 0o700 });
      await writeFile(join(home, path), text);
    }
    const passed = Object.fromEntries(
      setup.env.flatMap((name): [string, string][] => {
        const value = place.env[name];
        return value === undefined ? [] : [[name, value]];
      }),
    );
    const { network } = setup;
    const result = await runCommand({
      argv: inItsFolder(setup),
      directory,
      home,
      env: {
        npm_config_update_notifier: "false",
        npm_config_audit: "false",
        npm_config_fund: "false",
        ...registries.env,
        ...certificates.env,
        ...(scripts === "off" && withoutScripts),
        ...passed,
      },
      timeoutMs: setup.timeoutMs,
      maxOutputBytes,
      signal,
      network:
        network === false ? false : { reach: network, own: [...registries.hosts, ...registriesIn(network)] },
      writable: "workspace",
      visible: certificates.files,
      hidden: [place.stateDirectory],
      ...place.launch,
    });
    const values = [...Object.values(passed), ...secretsOf(extra)];
    const secrets = values.filter((value) => value.length >= leastSecret);
    const hide = (text: string): string => redact(text, secrets);
    const end = describeEnd(result, setup, hide);
    if (end.kind !== "prepared") return end;
    const parts = await partsOf(setup.keep, directory, home);
    // A package without dependencies fills no folder, which a pattern allows; a folder named in full is a mistake.
    if (parts.length === 0 && !setup.keep.some(isPattern))
      return {
        ...end,
        kind: "failed",
        why: `left none of the folders that it should keep: ${setup.keep.join(", ")}`,
        refused: [],
      };
    const copied = await findCopy(parts, extra);
    if (copied !== undefined)
      return {
        ...end,
        kind: "failed",
        why: `left a copy of ${showPath(copied.of)} in ${showPath(copied.place)}: sessions share what is kept there, so it may hold no file of source.checksOnly`,
        refused: [],
      };
    await keep(parts);
    return end;
  } finally {
    reach?.("scratch:before-remove");
    await removeFolder(folder);
  }
}

const inItsFolder = ({ run, folder }: Pick<FoundSetup, "run" | "folder">): readonly string[] =>
  folder === undefined ? run : ["sh", "-c", 'cd "./$0" && exec "$@"', folder, ...run];

function describeEnd(
  result: CommandResult,
  { timeoutMs }: SetupDefinition,
  hide: (text: string) => string,
): SetupEnd {
  if (result.kind === "not-started") {
    const why = `could not be started: ${hide(result.reason)}`;
    return { kind: "failed", why, output: "", durationMs: 0, refused: [] };
  }
  const { stdout, stderr, refused = [] } = result;
  const output = hide([stdout, stderr].filter((text) => text !== "").join("\n"));
  const ended = { output, durationMs: Math.round(result.durationMs) };
  if (result.kind === "aborted") return { ...ended, kind: "aborted" };
  if (result.kind === "exited" && result.code === 0) return { ...ended, kind: "prepared" };
  const why =
    result.kind === "exited"
      ? `ended with exit code ${result.code}`
      : result.kind === "exceeded"
        ? `was ended: ${result.reason}`
        : `did not end within ${timeoutMs} ms`;
  return { ...ended, kind: "failed", why, refused };
}

/** A shorter file is no secret, and as likely an ordinary file of a package. */
const leastCopied = 8;

async function findCopy(
  parts: readonly MadePart[],
  extra: ExtraFiles,
): Promise<{ readonly of: string; readonly place: string } | undefined> {
  const secret = [...extra].filter(([, content]) => content.length >= leastCopied);
  if (secret.length === 0) return undefined;
  for (const { folder, place } of parts) {
    for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
      if (!entry.isFile()) continue;
      const path = join(entry.parentPath, entry.name);
      const { size } = await lstat(path);
      const alike = secret.filter(([, content]) => content.length === size);
      if (alike.length === 0) continue;
      const found = await readFile(path);
      const copied = alike.find(([, content]) => content.equals(found));
      if (copied !== undefined) return { of: copied[0], place };
    }
  }
  return undefined;
}

/** The folders that the setup filled; a folder inside one that is kept belongs to it. */
async function partsOf(
  keep: readonly string[],
  directory: string,
  home: string,
): Promise<readonly MadePart[]> {
  const parts: MadePart[] = [];
  for (const place of keep.filter((name) => name.startsWith("~/"))) {
    const folder = join(home, place.slice(2));
    // A link in the home could lead out of it.
    if ((await realpath(folder).catch(() => undefined)) === join(await realpath(home), place.slice(2)))
      parts.push({ folder, place });
  }
  const matchers = keep.filter((name) => !name.startsWith("~/")).map(globMatcher);
  const waiting = matchers.length === 0 ? [] : [""];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    for (const entry of await readdir(join(directory, at), { withFileTypes: true })) {
      // A link could lead out of the copy.
      if (!entry.isDirectory()) continue;
      const path = at === "" ? entry.name : `${at}/${entry.name}`;
      if (matchers.some((matches) => matches(path)))
        parts.push({ folder: join(directory, path), place: path });
      else if (entry.name !== ".git") waiting.push(path);
    }
  }
  return parts.toSorted((one, other) => (one.place < other.place ? -1 : 1));
}
