import type { ErrorJson } from "./error-to-json.ts";
import { isJsonObject, type Json } from "./json-value.ts";
import { isSecretName } from "./secret-name.ts";

export const redactedMark = "[redacted]";

type Replacement = string | ((found: string, ...groups: readonly string[]) => string);

/**
 * Every pattern is linear: it starts at a fixed word and takes a run, so that hostile text cannot stall it.
 * A run whose end is cut off still matches, so a text may be shortened at its end before; never at its beginning.
 */
const secrets: readonly (readonly [pattern: RegExp, replacement: Replacement])[] = [
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
  // Assignments of a shell: `DB_PASS=x`.
  [
    /\b([A-Z][A-Z0-9_]{1,80})=(["']?)[^\s"',;}]+/g,
    (found, name = "", quote = "") => (isSecretName(name) ? `${name}=${quote}${redactedMark}` : found),
  ],
  [/:\/\/[^\s/@:"']{0,200}:[^\s/"']{1,400}@/g, `://${redactedMark}@`],
  // Keys that are known by how they begin. Names of tables and settings begin so too: pk_order_line_items, npm_config_cache.
  [/(?<![\w-])(?:sk|rk|xai|pplx|glpat|tvly|csk)-[\w-]{12,}/g, redactedMark],
  [
    /(?<![\w-])(?:[prs]k_(?:live|test)|sk|gsk|hf|npm|fw|r8|dop_v1)_(?=\w{0,200}[\dA-Z])[\w-]{12,}/g,
    redactedMark,
  ],
  [/(?<![\w-])(?:gh[pousr]_|github_pat_)\w{16,}/g, redactedMark],
  [/(?<![\w-])xox[a-z]-[\w-]{8,}/g, redactedMark],
  [/(?<![\w-])AIza[\w-]{16,}/g, redactedMark],
  [/(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{12,}/g, redactedMark],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, redactedMark],
];

/** A shorter secret would match ordinary text. */
const leastLength = 6;

/** Secrets of this process, which need not look like any known kind of key, in each form that a text may have. */
let known: readonly string[] = [];

/** From now on these values are in no text that is shown, recorded or sent by this process. */
export function keepSecret(values: Iterable<string | undefined>): void {
  known = longestFirst([...known, ...[...values].flatMap((value) => formsOf(value ?? ""))]);
}

/** The values of environment variables that are secrets: by their name, and passwords in addresses. */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => [
    ...(isSecretName(name) ? [value.trim()] : []),
    ...passwordsIn(value),
  ]);
}

function passwordsIn(value: string): readonly string[] {
  // Up to the last "@" of the address: an unescaped one may be part of the password.
  return [...value.matchAll(/:\/\/[^\s/@:]{0,200}:([^\s/]{1,400})@/g)].flatMap(
    ([, password]) => password ?? [],
  );
}

/** A secret as it is, line by line, within an address, within JSON, and within base64. */
function formsOf(secret: string): readonly string[] {
  return [...base64Forms(secret.trim()), secret, ...secret.split("\n")].flatMap((line) => {
    const plain = line.trim();
    return [
      plain,
      decoded(plain),
      encodeURIComponent(plain.toWellFormed()),
      JSON.stringify(plain).slice(1, -1),
    ];
  });
}

/** A shorter secret is an ordinary word too often, and a part of it in base64 even more so. */
const leastEncoded = 12;

/** At each of the three places where it may begin within base64: only the characters that depend on it alone. */
function base64Forms(secret: string): readonly string[] {
  if (secret.length < leastEncoded) return [];
  const bytes = Buffer.from(secret);
  return [0, 1, 2].flatMap((before) => {
    const [first, end] = [Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3)];
    const padded = Buffer.concat([Buffer.alloc(before), bytes]);
    return [padded.toString("base64").slice(first, end), padded.toString("base64url").slice(first, end)];
  });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** One secret may contain another. */
const longestFirst = (values: readonly string[]): readonly string[] =>
  [...new Set(values)]
    .filter((value) => value.length >= leastLength && !redactedMark.includes(value))
    .sort((a, b) => b.length - a.length);

const withoutValues = (text: string, values: readonly string[]): string =>
  values.reduce((kept, secret) => kept.replaceAll(secret, redactedMark), text);

/**
 * Removes keys, tokens and passwords from text that is shown, recorded or sent; says the same when asked twice. `own`:
 * secrets that only the caller knows.
 */
export function redact(text: string, own: readonly string[] = []): string {
  const values = own.length === 0 ? known : longestFirst([...known, ...own.flatMap(formsOf)]);
  return secrets.reduce(
    (kept, [pattern, replacement]) => kept.replace(pattern, replacement as string),
    withoutValues(text, values),
  );
}

/** Every text in a value that is shown to people. */
export const redactJson = <T extends Json>(value: T): T => mapTexts(value, (text) => redact(text)) as T;

/** An error as it is recorded with a session, where people and later attempts read it. */
export const redactError = (error: ErrorJson): ErrorJson =>
  redactJson(error as unknown as Json) as unknown as ErrorJson;

/** Passwords and settings that programs and texts use as words. A shorter word is never a known secret. */
const ordinaryWords = new Set(
  (
    "postgres postgresql password passwd secret changeme default example localhost development production staging " +
    "enabled disabled required optional session"
  ).split(" "),
);

/**
 * For data that other personas read and checkpoints carry: only the values of known secrets. A secret that is one of the
 * ordinary words stays, because programs depend on words; texts that merely look like a key may be data as well.
 */
export function redactData<T extends Json>(value: T): T {
  const values = known.filter((secret) => !ordinaryWords.has(secret.toLowerCase()));
  return (values.length === 0 ? value : mapTexts(value, (text) => withoutValues(text, values))) as T;
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]));
}

/** For text that arrives in pieces: the length of its beginning that holds no part of a secret that may go on. */
export function finishedLength(text: string): number {
  let end = text.length;
  // Keys and passwords are runs of printable ASCII; other scripts write without spaces.
  while (end > 0 && isPrintable(text.charCodeAt(end - 1))) end -= 1;
  return beforeSpans(end, [
    ...keyBlocks(text),
    ...known.filter(hasSpace).flatMap((one) => places(one, text)),
  ]);
}

/** Longer than what any key needs before it can be recognized. */
const keyBeginning = 1024;

/** How much of a text has to be held back at least, so that every secret that began before is complete. */
export const mostUnfinished = (): number => Math.max(keyBeginning, known[0]?.length ?? 0);

/** As `finishedLength`, for a word that is too long to wait for its end. 0: all of it may be one secret. */
export function safeLength(text: string): number {
  const spans = [...known.flatMap((secret) => places(secret, text)), ...keySpans(text)];
  return beforeSpans(Math.max(0, text.length - mostUnfinished()), spans);
}

/** The beginning of the key that the end of the text may belong to. */
export function openKey(text: string): number | undefined {
  const open = keySpans(text).filter(([, to]) => to === text.length);
  return open.length === 0 ? undefined : Math.min(...open.map(([from]) => from));
}

/** The last place up to `end` that is within none of the spans. */
function beforeSpans(end: number, spans: readonly Span[]): number {
  let at = end;
  for (const [from, to] of spans.toSorted(([one], [other]) => other - one)) {
    if (from < at && to > at) at = from;
  }
  return at;
}

const keySpans = (text: string): readonly Span[] =>
  secrets.flatMap(([pattern, replacement]) =>
    [...text.matchAll(pattern)].flatMap((match): readonly Span[] => {
      const [found, ...groups] = match;
      const isKey = typeof replacement === "string" || replacement(found, ...groups) !== found;
      return isKey ? [[match.index, match.index + found.length]] : [];
    }),
  );

const isPrintable = (unit: number): boolean => unit > 0x20 && unit < 0x7f;

type Span = readonly [from: number, to: number];

const hasSpace = (secret: string): boolean => /[^!-~]/.test(secret);

/** Where the secret is, and where it may have begun. */
function places(secret: string, text: string): readonly Span[] {
  const found: Span[] = [];
  for (let at = text.indexOf(secret); at !== -1; at = text.indexOf(secret, at + 1))
    found.push([at, at + secret.length]);
  let begun = Math.min(secret.length - 1, text.length);
  while (begun > 0 && !text.endsWith(secret.slice(0, begun))) begun -= 1;
  return begun === 0 ? found : [...found, [text.length - begun, Number.POSITIVE_INFINITY]];
}

const keyBlock =
  /-----BEGIN [A-Z ]{0,40}(?:PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY-----|$)|-{0,5}$)/g;

const keyBlocks = (text: string): readonly Span[] =>
  [...text.matchAll(keyBlock)].map(({ 0: found, index }) => [
    index,
    /-----END [A-Z ]{0,40}PRIVATE KEY-----$/.test(found) ? index + found.length : Number.POSITIVE_INFINITY,
  ]);
