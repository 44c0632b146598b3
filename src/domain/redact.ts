export const redactedMark = "[redacted]";

/**
 * Every pattern is linear: it starts at a fixed word and takes a run, so that hostile text cannot stall it.
 * A run whose end is cut off still matches, so a text may be shortened at its end before; never at its beginning.
 */
const secrets: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [
    /-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g,
    redactedMark,
  ],
  // Headers, in any spelling: `Authorization: Bearer x`, `"x-api-key": "x"`, `authorization=x`.
  [
    /((?:proxy-)?authorization["']?\s{0,4}[:=]\s{0,4}["']?)(?:(?:bearer|basic|token|digest)\s{1,4})?[^\s"',;}]+/gi,
    `$1${redactedMark}`,
  ],
  [/((?:set-)?cookie["']?\s{0,4}[:=]\s{0,4}["']?)[^\r\n"'}]+/gi, `$1${redactedMark}`],
  [/\b(bearer\s{1,4})(?=[^\s\d]{0,200}\d)[\w.~+/=-]{8,}/gi, `$1${redactedMark}`],
  // Query parameters.
  [
    /([?&](?:key|api[_-]?key|access[_-]?token|auth|auth[_-]?token|token|sig|signature|x-amz-(?:signature|credential|security-token)|client[_-]?secret|secret|password|code)=)[^&\s"'#<>]+/gi,
    `$1${redactedMark}`,
  ],
  // Settings: `OPENAI_API_KEY=x`, `"apiKey": "x"`, `password: x`. Not `max_tokens: 5`.
  [
    /((?:api[_-]?key|(?:access|auth|refresh|session|id|bot|personal)[_-]?token|_token|secret(?:[_-]?(?:access[_-]?)?key)?|private[_-]?key|password|passwd|_pwd)["']?\s{0,4}[:=]\s{0,4}["']?)(?=[^\s"',;}])(?!\s)[^\s"',;}]+/gi,
    `$1${redactedMark}`,
  ],
  [/:\/\/[^\s/@:"']{0,200}:[^\s/@"']{1,400}@/g, `://${redactedMark}@`],
  // Keys that are known by how they begin.
  [
    /(?<![\w-])(?:sk|pk|rk|xai|pplx|glpat|sk_live|sk_test|rk_live|gsk|hf|npm|tvly|fw|csk|r8|dop_v1)[-_][\w-]{12,}/g,
    redactedMark,
  ],
  [/(?<![\w-])(?:gh[pousr]_|github_pat_)\w{16,}/g, redactedMark],
  [/(?<![\w-])xox[a-z]-[\w-]{8,}/g, redactedMark],
  [/(?<![\w-])AIza[\w-]{16,}/g, redactedMark],
  [/(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{12,}/g, redactedMark],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, redactedMark],
];

/** Secrets of this process, which need not look like any known kind of key. Longest first: one may contain another. */
let known: readonly string[] = [];
/** A shorter secret would match ordinary text. */
const leastLength = 8;

/** From now on these values are in no text that is shown, recorded or sent by this process. */
export function keepSecret(values: Iterable<string | undefined>): void {
  const all = new Set(known);
  for (const value of values) if (value !== undefined && value.length >= leastLength) all.add(value);
  known = [...all].sort((a, b) => b.length - a.length);
}

const secretName =
  /(?:^|_)(?:api_?key|key|token|secret|password|passwd|pwd|passphrase|credentials?|auth)(?:_|$)/i;
/** `SSH_KEY_PATH` names the place of a secret, and `PWD` is the working directory: neither value is a secret. */
const placeName = /_(?:path|file|dir|directory|id|name|url|uri|host|type|sock)$|^(?:old)?pwd$/i;

/** The values of environment variables whose name says that they are secrets. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value]) =>
    value !== undefined && secretName.test(name) && !placeName.test(name) ? [value.trim()] : [],
  );
}

/** Removes keys, tokens and passwords from text that is shown, recorded or sent; says the same when asked twice. */
export function redact(text: string): string {
  const unknown = known.reduce((kept, secret) => kept.replaceAll(secret, redactedMark), text);
  return secrets.reduce((kept, [pattern, replacement]) => kept.replace(pattern, replacement), unknown);
}
