/** Files and folders are known by a number, as a file system knows them: names come and go. */
export type FileNumber = number;

/** Everything that a process did to a disk, in the order in which the calls returned. */
export type Operation =
  | { readonly kind: "write"; readonly file: FileNumber; readonly at: number; readonly bytes: Buffer }
  | { readonly kind: "truncate"; readonly file: FileNumber; readonly size: number }
  /** A name of a folder leads to another file from now on; undefined: to none. */
  | {
      readonly kind: "name";
      readonly folder: FileNumber;
      readonly changes: readonly { readonly name: string; readonly file: FileNumber | undefined }[];
    }
  /** Changes of the file or folder before the operation `covers` are on the disk now. */
  | { readonly kind: "sync"; readonly file: FileNumber; readonly covers: number; readonly path: string }
  /** The process told the outside about something that must not be lost. */
  | { readonly kind: "acknowledge"; readonly label: string };

export interface Recording {
  readonly operations: readonly Operation[];
  readonly folders: ReadonlySet<FileNumber>;
}

/** The folder whose content is recorded. */
export const rootFolder: FileNumber = 0;

/** The same run as if its program had forgotten one sync. */
export function withoutSync(recording: Recording, forgotten: Operation): Recording {
  // A number in `covers` counts operations, so the place stays: a sync that covers nothing.
  const operations = recording.operations.map((each) =>
    each === forgotten && each.kind === "sync" ? { ...each, covers: 0 } : each,
  );
  return { ...recording, operations };
}
