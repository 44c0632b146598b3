import { InputInvalid } from "../../domain/errors.ts";

/** Refuses the whole archive, because one false part makes the rest untrustworthy. */
export const refuseArchive = (why: string, advice = "Pack the files again."): InputInvalid =>
  new InputInvalid(`The archive is refused: ${why}.`, { advice });

export const archiveLimits = {
  /** Files, folders and all other entries. */
  maxEntries: 400_000,
  /** All unpacked bytes, including headers and skipped entries. */
  maxUnpackedBytes: 5 * 1024 * 1024 * 1024,
  maxNameBytes: 8 * 1024,
} as const;

/** The kind of an entry. `content` is undefined for a file larger than a session may have. */
export type Packed =
  | {
      readonly kind: "file";
      readonly name: Buffer;
      readonly isExecutable: boolean;
      readonly content: Buffer | undefined;
    }
  | { readonly kind: "link"; readonly name: Buffer; readonly target: Buffer }
  | { readonly kind: "folder"; readonly name: Buffer };
