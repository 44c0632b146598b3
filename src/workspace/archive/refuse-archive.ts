import { InputInvalid } from "../../domain/errors.ts";

/** The archive as a whole: a part of it that lies makes the rest worth nothing. */
export const refuseArchive = (why: string, advice = "Pack the files again."): InputInvalid =>
  new InputInvalid(`The archive is refused: ${why}.`, { advice });

export const archiveLimits = {
  /** Files, folders and everything else that it lists. */
  maxEntries: 400_000,
  /** All that comes out of it, with headers and what is left out. */
  maxUnpackedBytes: 5 * 1024 * 1024 * 1024,
  maxNameBytes: 8 * 1024,
} as const;

/** What one entry is. `content` is undefined for a file that is larger than a session can have. */
export type Packed =
  | {
      readonly kind: "file";
      readonly name: Buffer;
      readonly isExecutable: boolean;
      readonly content: Buffer | undefined;
    }
  | { readonly kind: "link"; readonly name: Buffer; readonly target: Buffer }
  | { readonly kind: "folder"; readonly name: Buffer };
