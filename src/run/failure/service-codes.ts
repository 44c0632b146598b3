import { readProperty } from "../../domain/bounded-json.ts";
import type { Link } from "./error-chain.ts";

/** gRPC codes by number, with the HTTP status that Google's gateways translate them to. */
const grpcCodes: readonly (readonly [name: string, status: number] | undefined)[] = [
  undefined,
  ["CANCELLED", 408],
  ["UNKNOWN", 500],
  ["INVALID_ARGUMENT", 400],
  ["DEADLINE_EXCEEDED", 504],
  ["NOT_FOUND", 404],
  ["ALREADY_EXISTS", 400],
  ["PERMISSION_DENIED", 403],
  ["RESOURCE_EXHAUSTED", 429],
  ["FAILED_PRECONDITION", 400],
  ["ABORTED", 409],
  ["OUT_OF_RANGE", 400],
  // The next try will not find the method either.
  ["UNIMPLEMENTED", 404],
  ["INTERNAL", 500],
  ["UNAVAILABLE", 503],
  ["DATA_LOSS", 500],
  ["UNAUTHENTICATED", 401],
];

/** Codes that only services use; the others are too common to prove anything. */
const unmistakable: ReadonlySet<string> = new Set([
  "DEADLINE_EXCEEDED",
  "PERMISSION_DENIED",
  "RESOURCE_EXHAUSTED",
  "UNAVAILABLE",
  "UNAUTHENTICATED",
]);

/** AWS sends these under statuses that mean something else: a throttled call is a 400. */
const awsNames: Readonly<Record<string, number>> = {
  BandwidthLimitExceeded: 429,
  EC2ThrottledException: 429,
  PriorRequestNotComplete: 429,
  ProvisionedThroughputExceededException: 429,
  RequestLimitExceeded: 429,
  RequestThrottled: 429,
  RequestThrottledException: 429,
  SlowDown: 429,
  ThrottledException: 429,
  Throttling: 429,
  ThrottlingException: 429,
  TooManyRequestsException: 429,
  RequestTimeout: 408,
  RequestTimeoutException: 408,
  ModelTimeoutException: 408,
  InternalServerException: 500,
  ServiceUnavailableException: 503,
  AccessDeniedException: 403,
  CredentialsProviderError: 401,
  ExpiredToken: 401,
  ExpiredTokenException: 401,
  InvalidClientTokenId: 401,
  InvalidSignatureException: 401,
  UnrecognizedClientException: 401,
};

export interface ServiceStatus {
  readonly status: number;
  /** The service's own code. */
  readonly code: string;
}

/** The HTTP status that corresponds to a code of gRPC or AWS. */
export function readServiceCode(link: Link): ServiceStatus | undefined {
  const name = [link.name, link.code].find((word) => word !== undefined && Object.hasOwn(awsNames, word));
  if (name !== undefined) return { status: awsNames[name] as number, code: name };
  const known = grpcCodes.find((row) => row?.[0] === grpcName(link));
  if (known === undefined) return undefined;
  const [code, status] = known;
  // The client's own limit for the size of a message: waiting makes it no smaller.
  const isTooLarge = status === 429 && /\bmessage larger than max\b/i.test(link.message);
  return { status: isTooLarge ? 413 : status, code };
}

/** A number alone may be an exit code or a count. The message or the client's own members must show that it is gRPC. */
function grpcName(link: Link): string | undefined {
  const code = link.read("code");
  if (typeof code === "string") return unmistakable.has(code) ? code : undefined;
  const name = typeof code === "number" ? grpcCodes[code]?.[0] : undefined;
  if (name === undefined) return undefined;
  const isOfGrpc =
    link.message.startsWith(`${String(code)} ${name}`) ||
    link.name === "ConnectError" ||
    (typeof link.read("details") === "string" && typeof link.read("metadata") === "object");
  return isOfGrpc ? name : undefined;
}

/** The members that HTTP clients put a status into, as a number or as text. */
export function readHttpStatus(link: Link): number | undefined {
  const nested = (member: string, key: string): unknown => {
    const value = link.read(member);
    return typeof value === "object" && value !== null ? readProperty(value, key) : undefined;
  };
  const candidates = [
    link.read("statusCode"),
    link.read("status"),
    nested("response", "status"),
    nested("response", "statusCode"),
    nested("$metadata", "httpStatusCode"),
  ];
  return candidates.map(asStatus).find((status) => status !== undefined);
}

function asStatus(value: unknown): number | undefined {
  const number = typeof value === "string" && /^\d{3}$/.test(value) ? Number(value) : value;
  const isStatus = typeof number === "number" && Number.isInteger(number) && number >= 100 && number < 600;
  return isStatus ? number : undefined;
}
