import { constants } from "node:fs";
import { chmod, cp, lchown, mkdir, rename, stat } from "node:fs/promises";
import { join } from "node:path";
import { removeFolder } from "../remove-folder.ts";
import type { LayerPart } from "./layer.ts";

/** How a command gets a private, writable view of a layer. */
export type ViewKind = "overlay" | "user-overlay" | "copy";

/** A part as one launch sees it. */
export interface PartView {
  readonly place: string;
  /** The folder to show there. For an overlay it is empty outside the launch. */
  readonly shown: string;
  /** The options of `mount -t overlay`; absent for a copy. */
  readonly overlay?: string;
}

/** Makes the views below the folder. Reuses an existing folder with everything written in it. */
export async function makeViews(
  parts: readonly LayerPart[],
  folder: string,
  kind: ViewKind,
  uid: number | undefined,
): Promise<readonly PartView[]> {
  const views: PartView[] = [];
  for (const [number, part] of parts.entries()) {
    const at = join(folder, String(number));
    views.push(kind === "copy" ? await copied(part, at) : await overlaid(part, at, kind, uid));
  }
  return views;
}

async function overlaid(
  { source, place }: LayerPart,
  at: string,
  kind: ViewKind,
  uid: number | undefined,
): Promise<PartView> {
  const [upper, work, shown] = [join(at, "upper"), join(at, "work"), join(at, "shown")];
  for (const folder of [upper, work, shown]) await mkdir(folder, { recursive: true, mode: 0o755 });
  // The merged folder has the owner and mode of the upper one.
  const { mode } = await stat(source);
  await chmod(upper, mode & 0o7777);
  if (uid !== undefined) await lchown(upper, uid, uid);
  const options = `lowerdir=${source},upperdir=${upper},workdir=${work}`;
  return { place, shown, overlay: kind === "user-overlay" ? `${options},userxattr` : options };
}

/** Never hard links, because a program that changes a file in place would change it for all. */
async function copied({ source, place }: LayerPart, at: string): Promise<PartView> {
  const shown = join(at, "shown");
  const isThere = await stat(shown).then(
    () => true,
    () => false,
  );
  if (!isThere) {
    await mkdir(at, { recursive: true, mode: 0o700 });
    const part = `${shown}.new`;
    await removeFolder(part);
    await copyFolder(source, part);
    await rename(part, shown);
  }
  return { place, shown };
}

/** Shares blocks where the file system can, and copies them otherwise. */
export const copyFolder = (source: string, target: string): Promise<void> =>
  cp(source, target, {
    recursive: true,
    mode: constants.COPYFILE_FICLONE,
    verbatimSymlinks: true,
    preserveTimestamps: true,
    errorOnExist: true,
    force: false,
  });

/** Commas and colons separate the options and the folders of an overlay. */
export const canBeMounted = (path: string): boolean => !/[,:\\\s"]/.test(path);

/** Mounts each overlay in its own mount namespace, which ends with the command, then becomes the command. */
const mountScript =
  'while [ "$1" != -- ]; do "$0" -t overlay overlay -o "$1" "$2" || exit 1; shift 2; done; shift; exec "$@"';

/** The programs that mount overlays. */
export interface MountPrograms {
  readonly unshare: string;
  readonly mount: string;
  readonly setpriv: string;
}

/** The words before the sandbox. */
export function mountWords(
  views: readonly PartView[],
  kind: ViewKind,
  { unshare, mount, setpriv }: MountPrograms,
): readonly string[] {
  const mounts = views.flatMap(({ overlay, shown }) => (overlay === undefined ? [] : [overlay, shown]));
  if (mounts.length === 0) return [];
  const isUser = kind === "user-overlay";
  return [
    unshare,
    ...(isUser ? ["--user", "--map-current-user", "--keep-caps"] : []),
    "--mount",
    "/bin/sh",
    "-c",
    mountScript,
    mount,
    ...mounts,
    "--",
    // bubblewrap refuses to start with rights that it did not take itself.
    ...(isUser ? [setpriv, "--ambient-caps=-all", "--inh-caps=-all", "--"] : []),
  ];
}
