import { statSync } from "node:fs";
import { advise } from "../../domain/advice.ts";
import { StateRemoved } from "../../domain/errors.ts";

/** SQLite writes through all three. If one is missing, other processes no longer see new writes. */
const suffixes = ["", "-wal", "-shm"] as const;
type Suffix = (typeof suffixes)[number];

/** Device and inode of each file, as plain data for the writer thread. Files that did not exist are left out. */
export type Identities = Partial<Readonly<Record<Suffix, string>>>;

/**
 * The files of an open database. A process can write to its open files after they were deleted, moved or replaced,
 * and no other process would ever see those writes. Files are checked by name and never opened, because closing one
 * would drop SQLite's locks on it.
 */
export class DatabaseFiles {
  readonly #path: string;
  readonly #known: Partial<Record<Suffix, string>>;

  /** The open database keeps the identities of its files until it is closed. */
  constructor(path: string, known: Identities = {}) {
    this.#path = path;
    this.#known = { ...known };
    if (known[""] === undefined) for (const suffix of suffixes) this.#learn(suffix);
  }

  get identities(): Identities {
    return this.#known;
  }

  /** Throws StateRemoved if the path no longer leads to the opened files. */
  prove(): void {
    const error = this.findRemoval();
    if (error !== undefined) throw error;
  }

  findRemoval(): StateRemoved | undefined {
    for (const suffix of suffixes) {
      const known = this.#known[suffix];
      const found = identityOf(this.#path + suffix);
      if (known === undefined) this.#learn(suffix);
      else if (known !== found) return removed(this.#path + suffix, found !== undefined);
    }
    return undefined;
  }

  #learn(suffix: Suffix): void {
    const found = identityOf(this.#path + suffix);
    if (found !== undefined) this.#known[suffix] = found;
  }
}

function identityOf(path: string): string | undefined {
  try {
    const found = statSync(path, { bigint: true, throwIfNoEntry: false });
    return found && `${found.dev} ${found.ino}`;
  } catch {
    // A file has replaced a folder, or this user may not enter the folder.
    return undefined;
  }
}

export function removed(path: string, isReplaced: boolean): StateRemoved {
  const what = isReplaced ? "was replaced by another file" : "was removed or moved away";
  return new StateRemoved(
    `${path} ${what} while this process used it. It stops: nothing that it did since then is recorded.`,
    {
      details: { path, isReplaced },
      advice: [
        advise(
          "If the state directory was moved, continue where it is now",
          "resume",
          "<session>",
          "--state-dir",
          "<folder>",
        ),
        advise("Otherwise put it back, or restore it from a backup, and resume the sessions", "sessions"),
      ],
    },
  );
}
