import { statSync } from "node:fs";
import { advise } from "../../domain/advice.ts";
import { StateRemoved } from "../../domain/errors.ts";

/** SQLite writes through all of them; without any one of them other processes no longer see what is written. */
const suffixes = ["", "-wal", "-shm"] as const;
type Suffix = (typeof suffixes)[number];

/** Device and inode of each file, as plain data for the writer thread; a file that did not exist yet is missing. */
export type Identities = Partial<Readonly<Record<Suffix, string>>>;

/**
 * The files of an open database. A process that has them open can write to them after they were deleted, moved or
 * replaced, and no other process would ever see it. They are looked up by name and never opened: closing one would drop
 * the locks that SQLite has on it.
 */
export class DatabaseFiles {
  readonly #path: string;
  readonly #known: Partial<Record<Suffix, string>>;

  /** The database is open, so its files keep their identities until it is closed. */
  constructor(path: string, known: Identities = {}) {
    this.#path = path;
    this.#known = { ...known };
    if (known[""] === undefined) for (const suffix of suffixes) this.#learn(suffix);
  }

  get identities(): Identities {
    return this.#known;
  }

  /** Throws StateRemoved where the path no longer leads to the files that were opened. */
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
    // A file stands where a folder was, or the folder is closed to this user.
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
