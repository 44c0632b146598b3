import { callAbandoned } from "../../journal/durable-step.ts";
import type { Link, Verdict } from "./error-chain.ts";

const outage: Verdict = { category: "API_ERROR", outage: true };
const timeout: Verdict = { category: "TIMEOUT", outage: true };
const resource: Verdict = { category: "RESOURCE" };
const full: Verdict = {
  category: "RESOURCE",
  severity: "critical",
  recoverable: false,
  suggestedFix: "Free space on the disk, then resume.",
};
const forbidden: Verdict = {
  category: "AUTH",
  recoverable: false,
  suggestedFix: "Give the process the right to this file or port, or use another.",
};
const untrusted: Verdict = {
  category: "AUTH",
  recoverable: false,
  suggestedFix: "Make Node trust the server's certificate (NODE_EXTRA_CA_CERTS) or correct the address.",
};
const missingModule: Verdict = { category: "IMPORT" };
const missingFile: Verdict = { category: "CONTRACT", suggestedFix: "Create the file or correct its path." };

const byCode: Readonly<Record<string, Verdict>> = {
  ECONNRESET: outage,
  ECONNREFUSED: outage,
  ECONNABORTED: outage,
  ENOTFOUND: outage,
  EAI_AGAIN: outage,
  EAI_FAIL: outage,
  EAI_NODATA: outage,
  ENETUNREACH: outage,
  ENETDOWN: outage,
  ENETRESET: outage,
  EHOSTUNREACH: outage,
  EHOSTDOWN: outage,
  EPIPE: outage,
  EPROTO: outage,
  UND_ERR_SOCKET: outage,
  UND_ERR_CLOSED: outage,
  UND_ERR_DESTROYED: outage,
  UND_ERR_RESPONSE: outage,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: outage,
  HPE_INVALID_CONSTANT: outage,
  ERR_STREAM_PREMATURE_CLOSE: outage,
  ETIMEDOUT: timeout,
  ESOCKETTIMEDOUT: timeout,
  UND_ERR_CONNECT_TIMEOUT: timeout,
  UND_ERR_HEADERS_TIMEOUT: timeout,
  UND_ERR_BODY_TIMEOUT: timeout,
  ENOSPC: full,
  EDQUOT: full,
  EROFS: full,
  EMFILE: resource,
  ENFILE: resource,
  ENOMEM: resource,
  ENOBUFS: resource,
  EAGAIN: resource,
  EADDRINUSE: resource,
  E2BIG: resource,
  EIO: { ...resource, severity: "critical" },
  ERR_WORKER_OUT_OF_MEMORY: resource,
  ERR_OUT_OF_RANGE: { category: "TYPE" },
  EACCES: forbidden,
  EPERM: forbidden,
  CERT_HAS_EXPIRED: untrusted,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
  MODULE_NOT_FOUND: missingModule,
  ERR_MODULE_NOT_FOUND: missingModule,
  ERR_PACKAGE_PATH_NOT_EXPORTED: missingModule,
  ERR_UNSUPPORTED_DIR_IMPORT: missingModule,
  ERR_UNKNOWN_FILE_EXTENSION: missingModule,
  ERR_REQUIRE_ESM: missingModule,
  ERR_UNSUPPORTED_TYPESCRIPT_SYNTAX: { category: "SYNTAX" },
  ERR_INVALID_TYPESCRIPT_SYNTAX: { category: "SYNTAX" },
  ERR_INVALID_ARG_TYPE: { category: "TYPE" },
  ERR_INVALID_ARG_VALUE: { category: "TYPE" },
  ERR_ASSERTION: { category: "TEST_FAILURE" },
  ENOENT: missingFile,
  ENOTDIR: missingFile,
  EISDIR: missingFile,
};

/** Classifies by Node's own code: `ECONNRESET`, `ENOSPC`, `ERR_MODULE_NOT_FOUND`. */
export function verdictOfCode(code: string | undefined): Verdict | undefined {
  if (code === undefined || !Object.hasOwn(byCode, code)) return undefined;
  return { ...(byCode[code] as Verdict), code };
}

/** Node's system errors, and a wait that was ended from outside. */
export function readSystemError(link: Link): Verdict | undefined {
  const spawned = link.read("syscall");
  if (link.code === "ENOENT" && typeof spawned === "string" && spawned.startsWith("spawn")) {
    return { category: "IMPORT", code: "ENOENT", suggestedFix: "Install the command or correct its name." };
  }
  const verdict = verdictOfCode(link.code);
  if (verdict !== undefined) return verdict;
  if (link.code === callAbandoned) return { category: "TIMEOUT", outage: false, code: callAbandoned };
  if (link.name === "TimeoutError") return { ...timeout, code: "TimeoutError" };
  // Ended from outside, so not a matter of quality: the next attempt continues the work.
  if (link.name === "AbortError" || link.code === "ABORT_ERR") return { ...timeout, code: "AbortError" };
  return undefined;
}
