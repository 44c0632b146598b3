import { redact, secretsIn } from "../../domain/redact.ts";

/** An error that the agent itself reports, in an event that its model's text cannot imitate. */
export interface AgentError {
  readonly words: string;
  /** The status of its provider; `null` when the error is not about the provider. */
  readonly status: number | null;
  /** The provider did not answer. */
  readonly unreachable?: true;
  /** It ended its run at the limit in dollars that its own option gave it. */
  readonly isOwnLimit?: true;
  /** When its limit ends. */
  readonly retryAt?: number | null;
}

const byKind: ReadonlyMap<string, number> = new Map([
  ["authentication_failed", 401],
  ["billing_error", 402],
  ["rate_limit", 429],
  ["invalid_request", 400],
  ["server_error", 500],
]);

/** Beginnings only: what stands behind them may be quoted from anywhere. */
const byWords: readonly (readonly [RegExp, number])[] = [
  [
    /^(?:Claude (?:AI )?usage limit reached|You(?:'|’)ve (?:hit|reached) your (?:\w+ )?(?:usage )?limit)/i,
    429,
  ],
  [/^(?:Invalid API key|Please run \/login|OAuth token (?:has )?(?:revoked|expired))/i, 401],
  [/^Credit balance is too low/i, 402],
  [/^(?:Prompt|Input) is too long/i, 400],
];

const stated =
  /^(?:API Error:? \(?|unexpected status |exceeded retry limit, last status: |\[API Error: \{"error":\{"code":)(\d{3})\b/i;
const unanswered =
  /^(?:API Error: )?(?:Connection error|Request timed out|stream disconnected|error sending request|Unable to connect)/i;

/** Reads an agent's own error. `kind`: its own word for it, where it has one; `told`: the status of its provider. */
export function agentError(
  words: string,
  kind: string | null = null,
  resetsAt: number | null = null,
  told: number | null = null,
): AgentError {
  const status = told ?? Number(stated.exec(words)?.[1] ?? Number.NaN);
  const known = Number.isNaN(status)
    ? ((kind === null ? undefined : byKind.get(kind)) ?? byWords.find(([start]) => start.test(words))?.[1])
    : status;
  if (known === undefined)
    return { words, status: null, ...(unanswered.test(words) && { unreachable: true }) };
  return { words, status: known, retryAt: known === 429 ? (saidTime(words) ?? resetsAt) : null };
}

/** Statuses that a repeat does not change: a request, a key, an account or a model that is wrong. */
const final: ReadonlySet<number> = new Set([400, 401, 402, 403, 404]);

/** A limit that ends later is waited for without the agent: it would hold its place, and its time would run. */
const longestOwnWaitMs = 60_000;

/**
 * Whether an agent that repeats its request should be ended. The first 401 may only mean that a login has to renew its
 * token.
 */
export const isHopeless = ({ status }: AgentError, tries: number, waitMs: number): boolean =>
  (status !== null && final.has(status) && (status !== 401 || tries > 1)) ||
  (status === 429 && waitMs > longestOwnWaitMs);

/** "…|1762952400", the second when the limit ends. */
function saidTime(words: string): number | null {
  const seconds = /\|(\d{10})\b/.exec(words)?.[1];
  return seconds === undefined ? null : Number(seconds) * 1000;
}

/** The error as classification reads it: a status and a time to wait, like a provider's own. */
export function thrownBy(program: string, { words, status, unreachable, retryAt }: AgentError): Error {
  const error = new Error(`${program}: ${words}`);
  if (unreachable === true) return Object.assign(error, { code: "ECONNRESET" });
  if (status === null) return error;
  const headers = retryAt == null ? {} : { "retry-after": new Date(retryAt).toUTCString() };
  return Object.assign(error, { statusCode: status, responseHeaders: headers });
}

export type Hide = (text: string) => string;

/** Hides the secrets in an agent's environment, whatever they look like, and all that looks like a key. */
export function hideSecrets(env: Readonly<Record<string, string>> = {}): Hide {
  const own = secretsIn(env);
  return (text) => redact(text, own);
}
