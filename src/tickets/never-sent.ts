/** Codes of failures before the first byte of the request, when it is not already the system call that says so. */
const beforeSending = new Set([
  "UND_ERR_CONNECT_TIMEOUT",
  "ERR_TLS_CERT_ALTNAME_INVALID",
  "DEPTH_ZERO_SELF_SIGNED_CERT",
  "SELF_SIGNED_CERT_IN_CHAIN",
  "UNABLE_TO_GET_ISSUER_CERT",
  "UNABLE_TO_GET_ISSUER_CERT_LOCALLY",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
  "CERT_HAS_EXPIRED",
  "CERT_NOT_YET_VALID",
]);

/** Whether a failed fetch surely never reached anybody. When in doubt it did. */
export function neverSent(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  if (!(cause instanceof Error)) return false;
  // One failure for each address that the name resolved to.
  if (cause instanceof AggregateError) return cause.errors.length > 0 && cause.errors.every(beforeFirstByte);
  return beforeFirstByte(cause);
}

function beforeFirstByte(error: NodeJS.ErrnoException): boolean {
  if (error.syscall === "connect" || error.syscall === "getaddrinfo") return true;
  return error.code !== undefined && beforeSending.has(error.code);
}
