import type { Log, LogLevel } from "../api/log/log.ts";

interface Answered {
  readonly requestId: string;
  /** Undefined without an accepted token. */
  readonly person: string | undefined;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

const longestPath = 200;
/** Paths that supervisors request every few seconds. */
const probes: readonly string[] = ["/healthz", "/metrics"];

/** Logs an answer. The query is left out, because it may contain the code of a link. */
export function logRequest(log: Log, { requestId, person, method, path, status, ms }: Answered): void {
  log({
    level: levelOf(path, status),
    message: `${method.slice(0, 20)} ${path.slice(0, longestPath)} ${status}`,
    fields: { request: requestId, person, session: sessionIn(path), status, ms: Math.round(ms) },
  });
}

/** The id or key that the path names. */
function sessionIn(path: string): string | undefined {
  const name = /^\/v1\/sessions\/([^/]+)/.exec(path)?.[1];
  try {
    return name === undefined ? undefined : decodeURIComponent(name).slice(0, longestPath);
  } catch {
    return undefined;
  }
}

function levelOf(path: string, status: number): LogLevel {
  if (status >= 500) return "error";
  if (status >= 400) return "warn";
  return path.startsWith("/v1/") || !(probes.includes(path) || isPage(path)) ? "info" : "debug";
}

/** Files of the dashboard. */
const isPage = (path: string): boolean => path === "/" || path.startsWith("/assets/");
