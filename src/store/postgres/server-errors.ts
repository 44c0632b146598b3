import { MaestroError, StateUnavailable, StorageFailed } from "../../domain/errors.ts";

interface ServerError {
  readonly code?: string;
  readonly message?: string;
}

const codeOf = (error: unknown): string => (error as ServerError | null)?.code ?? "";
const messageOf = (error: unknown): string => (error as ServerError | null)?.message ?? "no reason was given";

const lostConnection =
  /^(?:ECONNRESET|ECONNREFUSED|ECONNABORTED|EPIPE|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|ENETDOWN|EAI_AGAIN|ENOTFOUND|ENOENT|08\d\d\d|57P0[1-5]|25006|25P03|53300)$/;
const lostInWords =
  /Connection terminated|Query read timeout|connection error|Client was closed|timeout expired/;

/** The server may answer again, here or on another host: what was under way has an unknown outcome. */
export const isLost = (error: unknown): boolean =>
  lostConnection.test(codeOf(error)) || (codeOf(error) === "" && lostInWords.test(messageOf(error)));

/** Serialization failure, deadlock, or a row that another process inserted first: nothing was written. */
export const isConflict = (error: unknown): boolean => ["40001", "40P01", "23505"].includes(codeOf(error));

const reasons: Readonly<Record<string, string>> = {
  ECONNREFUSED: "connection refused",
  ENOENT: "there is no such socket",
  ENOTFOUND: "there is no host of that name",
  EAI_AGAIN: "its name cannot be looked up",
  ETIMEDOUT: "no answer",
  EHOSTUNREACH: "there is no route to it",
  "57P03": "it is starting up or shutting down",
  "53300": "it has no connection left",
};

export const reasonOf = (error: unknown): string =>
  reasons[codeOf(error)] ??
  (/timeout/i.test(messageOf(error)) ? "no answer" : messageOf(error).replace(/\.$/, ""));

const disk = new Set(["53100", "53200", "58030", "XX001", "XX002"]);

/** Why a connection that was made cannot be used; undefined if another attempt may succeed. */
export function refusalOf(error: unknown, place: string): MaestroError | undefined {
  const options = { cause: error, details: { store: place } };
  switch (codeOf(error)) {
    case "28P01":
    case "28000":
      return new StateUnavailable(`PostgreSQL at ${place} refused to sign in: ${messageOf(error)}.`, {
        ...options,
        advice: "Check the user and password in MAESTRO_STORE, and pg_hba.conf of the server.",
      });
    case "3D000":
      return new StateUnavailable(`PostgreSQL at ${place} has no such database: ${messageOf(error)}.`, {
        ...options,
        advice: "Create it: createdb <name>. Maestro creates its own tables in it.",
      });
    case "42501":
      return new StateUnavailable(`PostgreSQL at ${place} does not let Maestro work: ${messageOf(error)}.`, {
        ...options,
        advice: "Let the user create a schema: GRANT CREATE, CONNECT ON DATABASE <database> TO <user>.",
      });
    case "0A000":
    case "08P01":
      return new StateUnavailable(`${place} does not accept the connection: ${messageOf(error)}.`, {
        ...options,
        advice: "Connect to PostgreSQL itself, not to a pooler.",
      });
    case "SELF_SIGNED_CERT_IN_CHAIN":
    case "DEPTH_ZERO_SELF_SIGNED_CERT":
    case "UNABLE_TO_VERIFY_LEAF_SIGNATURE":
    case "UNABLE_TO_GET_ISSUER_CERT_LOCALLY":
    case "ERR_TLS_CERT_ALTNAME_INVALID":
    case "CERT_HAS_EXPIRED":
      return new StateUnavailable(
        `The certificate of PostgreSQL at ${place} is not trusted: ${messageOf(error)}.`,
        {
          ...options,
          advice: "Add sslrootcert=<file> with the server's certificate authority to the address.",
        },
      );
  }
  if (!messageOf(error).includes("does not support SSL")) return undefined;
  return new StateUnavailable(`PostgreSQL at ${place} does not speak TLS.`, {
    ...options,
    advice: "Turn TLS on at the server, or add sslmode=disable to the address if the network is trusted.",
  });
}

/** Translates an error of the server to one of domain/errors.ts, with advice. */
export function translate(error: unknown, place: string): unknown {
  if (MaestroError.is(error)) return error;
  const code = codeOf(error);
  const options = { cause: error, details: { store: place, code } };
  const refused = refusalOf(error, place);
  if (refused !== undefined) return refused;
  if (disk.has(code))
    return new StorageFailed(`PostgreSQL at ${place} could not write: ${messageOf(error)}.`, {
      ...options,
      advice: "Free space on the server, then resume the session: nothing recorded is lost.",
    });
  if (isLost(error))
    return new StateUnavailable(`PostgreSQL at ${place} cannot be reached: ${reasonOf(error)}.`, {
      ...options,
      advice: "Check that the server runs and can be reached from here, then resume the session.",
    });
  if (code === "42P01" || code === "3F000")
    return new StateUnavailable(`PostgreSQL at ${place} lost tables of Maestro: ${messageOf(error)}.`, {
      ...options,
      advice: "Restore the database from a backup, or choose another in MAESTRO_STORE.",
    });
  return error;
}

/** An infrastructure failure, not one of the work. */
export function notWritten(error: unknown, place: string): MaestroError {
  const translated = translate(error, place);
  if (MaestroError.is(translated)) return translated;
  return new StorageFailed(`PostgreSQL at ${place} did not take a write: ${messageOf(error)}`, {
    cause: error,
    details: { store: place },
    advice: "Resume the session: it continues from the last recorded step.",
  });
}
