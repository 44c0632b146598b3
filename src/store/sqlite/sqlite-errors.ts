import { openSync, readSync } from "node:fs";
import { MaestroError, StateCorrupt, StateUnavailable, StorageFailed } from "../../domain/errors.ts";
import type { WriteError } from "../command.ts";
import { removed } from "./database-files.ts";

const SQLITE_ERROR = 1;
const SQLITE_BUSY = 5;
const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

/** SQLITE_IOERR_READ, _SHORT_READ, _CORRUPTFS (EIO, despite its name) and _IN_PAGE. */
const readErrors: readonly number[] = [1, 2, 33, 34].map((kind) => SQLITE_IOERR + kind * 0x100);

function errcodeOf(error: unknown): number | undefined {
  const code = (error as { errcode?: unknown } | null)?.errcode;
  return typeof code === "number" ? code : undefined;
}

function primaryCode(error: unknown): number | undefined {
  const code = errcodeOf(error);
  return code === undefined ? undefined : code & 0xff;
}

export function isDamage(error: unknown): boolean {
  return [SQLITE_CORRUPT, SQLITE_NOTADB].includes(primaryCode(error) ?? 0);
}

/** The error code in a finding of SQLite's check that shows a refused read instead of wrong content. */
export function readErrorIn(findings: readonly string[]): { readonly errcode: number } | undefined {
  const codes = findings.flatMap((line) =>
    [...line.matchAll(/error code=(\d+)/g)].map(([, code]) => Number(code)),
  );
  const errcode = codes.find((code) => !isDamage({ errcode: code }));
  return errcode === undefined ? undefined : { errcode };
}

function unreadable(path: string, cause: unknown): StorageFailed {
  return new StorageFailed(`${path} could not be read: the disk reported an error.`, {
    cause,
    details: { path },
    advice: "Check the disk and the system log, then try again. Nothing was changed.",
  });
}

const probeBytes = 1024 * 1024;
/** Kept open, because closing one would drop SQLite's locks on the same file in this process. */
const probes = new Map<string, number>();

/**
 * SQLite calls a schema that the disk refused to read malformed. Moving such a database aside would lose its steps,
 * so the whole file is read before it is called damaged. Undefined: it is readable.
 */
function findUnreadable(path: string): StorageFailed | undefined {
  try {
    const file = probes.get(path) ?? openSync(path, "r");
    probes.set(path, file);
    const buffer = Buffer.allocUnsafe(probeBytes);
    for (let at = 0, read = -1; read !== 0; at += read) read = readSync(file, buffer, 0, probeBytes, at);
    return undefined;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EIO" ? unreadable(path, error) : undefined;
  }
}

export function wasClosed(path: string, cause?: unknown): StateUnavailable {
  return new StateUnavailable(`${path} was closed.`, {
    cause,
    advice: "Open it again: what was recorded is there.",
  });
}

export function isBusy(error: unknown): boolean {
  return primaryCode(error) === SQLITE_BUSY;
}

const missesSchema =
  /^no such (table|column|index|collation|function)|has no column named|unsupported file format/;

export function damaged(path: string, why: string, cause?: unknown): StateCorrupt {
  return new StateCorrupt(`${path} is damaged or not a Maestro database: ${why}.`, {
    cause,
    details: { path },
    advice:
      `Move it aside (mv ${path} ${path}.damaged, with its -wal and -shm files) and resume: ` +
      "each session resumes from its newest valid checkpoint.",
  });
}

/** Translates SQLite's error to one of domain/errors.ts, with advice. Returns any other error unchanged. */
export function translate(error: unknown, path: string): unknown {
  const options = { cause: error, details: { path } };
  switch (primaryCode(error)) {
    case SQLITE_FULL:
      return new StorageFailed(`The disk that holds ${path} is full; the last write was not recorded.`, {
        ...options,
        advice: "Free some space, then resume the session: nothing recorded is lost.",
      });
    case SQLITE_IOERR:
      if (readErrors.includes(errcodeOf(error) ?? 0)) return unreadable(path, error);
      return new StorageFailed(
        `The disk refused a write or read of ${path}; the last write was not acknowledged.`,
        {
          ...options,
          advice: "Check the disk and the system log, then resume the session.",
        },
      );
    case SQLITE_BUSY:
      return new StorageFailed(`${path} stayed locked by another process for too long.`, {
        ...options,
        advice: "Look for a process that holds it (fuser), then try again.",
      });
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
      return new StateUnavailable(`${path} cannot be opened for writing.`, {
        ...options,
        advice: "Check the permissions of the state directory, or choose another with --state-dir.",
      });
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
      return findUnreadable(path) ?? damaged(path, (error as Error).message, error);
    case SQLITE_ERROR:
      // All statements are fixed, so a missing table or a file that SQLite does not recognize means damage.
      return missesSchema.test((error as Error).message)
        ? damaged(path, (error as Error).message, error)
        : error;
    case undefined:
    default:
      return error;
  }
}

/** An infrastructure failure, not one of the work. After the thread died it is unknown whether the commit was made. */
export function notWritten({ message, errcode, removed: gone }: WriteError, path: string): MaestroError {
  if (gone !== undefined) return removed(gone.path, gone.isReplaced);
  const error = translate(Object.assign(new Error(message), { errcode }), path);
  if (MaestroError.is(error)) return error;
  return new StorageFailed(`${path} did not take a write: ${message}`, {
    cause: error,
    details: { path },
    advice: "Resume the session: it continues from the last recorded step.",
  });
}
