import type { FileMode } from "../../domain/tree.ts";

export const archiveFormats = ["zip", "tar.gz"] as const;
export type ArchiveFormat = (typeof archiveFormats)[number];

/** One file of an archive. The content of a link is its target. */
export interface ArchiveEntry {
  readonly path: string;
  readonly mode: FileMode;
  readonly content: Buffer;
}

/** In the format of `stat`: the kind of file and its permissions. */
export const unixModes: Readonly<Record<FileMode, number>> = {
  file: 0o100644,
  executable: 0o100755,
  link: 0o120777,
};
