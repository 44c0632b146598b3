import { InputInvalid } from "../../domain/errors.ts";

const leastLength = 24;
const leastCharacters = 8;
const leastSteps = 8;

/** A name such as "myhost" may be any address, so it counts as reachable by others. */
export function isLoopback(host: string): boolean {
  const name = host.toLowerCase().replace(/^\[|\]$/g, "");
  return name === "localhost" || name === "::1" || /^127(?:\.\d{1,3}){3}$/.test(name);
}

/**
 * Long enough, and not typed by pattern: few different characters reveal repetition, and few different steps
 * between characters reveal a sequence or a repeated word.
 */
export function isStrongToken(token: string): boolean {
  const codes = Array.from(token, (letter) => letter.charCodeAt(0));
  const steps = codes.slice(1).map((code, index) => code - (codes[index] ?? 0));
  return (
    codes.length >= leastLength && new Set(codes).size >= leastCharacters && new Set(steps).size >= leastSteps
  );
}

/** A server that others can reach needs a strong token, also behind a proxy that forwards to loopback. */
export function demandStrongToken(token: string, host: string, publicUrl?: string): void {
  const isReached = publicUrl !== undefined && !isLoopback(new URL(publicUrl).hostname);
  if ((isLoopback(host) && !isReached) || isStrongToken(token)) return;
  const where = isReached ? `people reach as ${publicUrl}` : `listens on ${host}`;
  throw new InputInvalid(
    `The token is too easy to guess for a server that ${where}: it needs at least ${leastLength} characters without a pattern.`,
    {
      advice: [
        { text: "Make a strong one for MAESTRO_API_TOKEN", command: ["openssl", "rand", "-hex", "32"] },
        {
          text: "Or leave MAESTRO_API_TOKEN unset and remove the file api-token: the server then makes one.",
          command: null,
        },
      ],
    },
  );
}

interface Exposed {
  readonly host: string;
  readonly hasTls: boolean;
  readonly publicUrl: string | undefined;
}

/** Notices for the owner of a server that others can reach. */
export function exposureNotices({ host, hasTls, publicUrl }: Exposed): string[] {
  if (isLoopback(host)) return [];
  const isEncrypted = hasTls || publicUrl?.startsWith("https:") === true;
  return [
    `Maestro listens on ${placeOf(host)}. Every computer that can reach it can try to sign in.`,
    ...(isEncrypted
      ? []
      : [
          "The connection is not encrypted: others on the network can read the token and everything else. Use --tls-cert and --tls-key, or a proxy with TLS and --public-url https://...",
        ]),
    ...(publicUrl === undefined && isEveryAddress(host)
      ? [
          "It answers only under 127.0.0.1 and localhost until --public-url names the address that people use.",
        ]
      : []),
  ];
}

export const isEveryAddress = (host: string): boolean => ["0.0.0.0", "::", "[::]"].includes(host);

/** The address for use within a sentence. */
const placeOf = (host: string): string =>
  isEveryAddress(host) ? `all addresses of this machine (${host})` : host;

/** `url`: the address on this machine. */
export const whereOf = (host: string, url: string): string =>
  isEveryAddress(host) ? `${placeOf(host)}; on this machine ${url}` : url;
