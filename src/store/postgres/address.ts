import { InputInvalid } from "../../domain/errors.ts";

export interface Host {
  readonly host: string;
  readonly port: number;
}

/** Where a store is: `postgres://user:password@one,two:5433/database?schema=maestro&sslmode=verify-full`. */
export interface Address {
  readonly hosts: readonly Host[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string;
  readonly schema: string;
  readonly tls: "off" | "unverified" | "verified";
  /** A PEM file with the certificates to trust instead of the system's. */
  readonly rootCertificate: string | undefined;
}

const form = /^postgres(?:ql)?:\/\/(?:([^:@/?]*)(?::([^@/?]*))?@)?([^/?]*)(?:\/([^?]*))?(?:\?(.*))?$/;
const tlsModes = { disable: "off", require: "unverified", "verify-full": "verified" } as const;
const defaultPort = 5432;
const defaultName = "maestro";
const schemaForm = /^[a-z_][a-z0-9_]{0,62}$/;

export const isPostgresAddress = (text: string): boolean => /^postgres(?:ql)?:/.test(text);

/** Errors never quote the address, because it may hold a password. */
export function readAddress(text: string): Address {
  const found = form.exec(text);
  if (found === null)
    throw invalid("The address of the store is not postgres://user:password@host:port/database.");
  const [, user, password, hosts = "", database = "", query = ""] = found;
  const options = new URLSearchParams(query);
  const known = ["schema", "sslmode", "sslrootcert", "host"];
  const unknown = [...options.keys()].find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw invalid(
      `The address of the store has the unknown option "${unknown}". Known: ${known.join(", ")}.`,
    );
  const socket = options.get("host");
  const places = (socket ?? hosts).split(",").map(readHost);
  const schema = options.get("schema") ?? defaultName;
  if (!schemaForm.test(schema))
    throw invalid(`schema=${schema} is no name of a schema: use small letters, digits and _.`);
  return {
    hosts: places,
    user: decode(user),
    password: decode(password),
    database: decode(database) ?? defaultName,
    schema,
    tls: readTls(options.get("sslmode"), places),
    rootCertificate: options.get("sslrootcert") ?? undefined,
  };
}

/** The address as people may see it: without user and password. */
export const showAddress = ({ hosts, database }: Address): string =>
  `postgres://${hosts.map(showHost).join(",")}/${database}`;

export const showHost = ({ host, port }: Host): string => `${host}:${port}`;

function readHost(text: string): Host {
  if (text.startsWith("/")) return { host: text, port: defaultPort };
  const [, bracketed, plain, port] = /^(?:\[([0-9a-fA-F:]+)\]|([^:[\]]*))(?::(\d{1,5}))?$/.exec(text) ?? [];
  const host = decode(bracketed ?? plain);
  const number = port === undefined ? defaultPort : Number(port);
  if ((bracketed ?? plain) === undefined || number < 1 || number > 65_535)
    throw invalid("A host in the address of the store is not host:port.");
  return { host: host ?? "127.0.0.1", port: number };
}

/** Passwords and work cross the network, so only this machine is reached without TLS unless the address says so. */
function readTls(mode: string | null, hosts: readonly Host[]): Address["tls"] {
  if (mode === null) return hosts.every(isThisMachine) ? "off" : "verified";
  const found = Object.hasOwn(tlsModes, mode) ? tlsModes[mode as keyof typeof tlsModes] : undefined;
  if (found !== undefined) return found;
  throw invalid(`sslmode=${mode} is unknown. Known: ${Object.keys(tlsModes).join(", ")}.`);
}

const isThisMachine = ({ host }: Host): boolean =>
  host.startsWith("/") || host === "localhost" || host === "::1" || host.startsWith("127.");

function decode(part: string | undefined): string | undefined {
  if (part === undefined || part === "") return undefined;
  try {
    return decodeURIComponent(part);
  } catch {
    throw invalid("The address of the store has a % that begins no escape. Write a literal % as %25.");
  }
}

function invalid(message: string): InputInvalid {
  return new InputInvalid(message, {
    advice: "Set MAESTRO_STORE to postgres://user:password@host:5432/database.",
  });
}
