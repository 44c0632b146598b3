import type { ErrorJson } from "./error-to-json.ts";
import { isJsonObject, type Json } from "./json-value.ts";
import { isSecretName } from "./secret-name.ts";

export const redactedMark = "[redacted]";

type Replacement = string | ((found: string, ...groups: readonly string[]) => string);

/**
 * Every pattern is linear: it starts at a fixed word and matches one run, so that hostile text cannot stall it. A
 * run without its end still matches, so a text may be cut at its end before redaction, but never at its beginning.
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
  // Keys with a known prefix. Some table and setting names begin the same way: pk_order_line_items, npm_config_cache.
  [/(?<![\w-])(?:sk|rk|xai|pplx|glpat|tvly|csk)-[\w-]{12,}/g, redactedMark],
  [
    /(?<![\w-])(?:[prs]k_(?:live|test)|sk|gsk|hf|npm|fw|r8|dop_v1)_(?=\w{0,200}[\dA-Z])[\w-]{12,}/g,
    redactedMark,
  ],
  [/(?<![\w-])(?:gh[pousr]_|github_pat_)\w{16,}/g, redactedMark],
  [/(?<![\w-])maestro_[\w-]{43}/g, redactedMark],
  [/(?<![\w-])xox[a-z]-[\w-]{8,}/g, redactedMark],
  [/(?<![\w-])AIza[\w-]{16,}/g, redactedMark],
  [/(?<![\w-])(?:AKIA|ASIA)[0-9A-Z]{12,}/g, redactedMark],
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?/g, redactedMark],
];

/** A shorter secret would match ordinary text. */
const leastLength = 6;

/** Secrets of this process, which may not look like a known kind of key, in each form that a text may contain. */
let known: readonly string[] = [];

/** From now on this process removes these values from all text that it shows, records or sends. */
export function keepSecret(values: Iterable<string | undefined>): void {
  known = longestFirst([...known, ...[...values].flatMap((value) => formsOf(value ?? ""))]);
}

/**
 * The secret values among environment variables: those with a secret name, and passwords in addresses and in
 * connection strings.
 */
export function secretsIn(env: Readonly<Record<string, string | undefined>>): readonly string[] {
  return Object.entries(env).flatMap(([name, value = ""]) => [
    ...(isSecretName(name) ? [value.trim()] : []),
    ...passwordsIn(value),
    ...secretMembersIn(value),
  ]);
}

/** Too common as names of ordinary members. */
const openMember = /^(?:keys?|auth)$/i;

/** `postgres://db/app?password=x`, `host=db password=x`, `Server=db;Password=x`. */
function secretMembersIn(value: string): readonly string[] {
  return [...value.matchAll(/(?<=^|[?&;\s])(\w{1,80})=("[^"]*"|'[^']*'|[^\s&;]+)/g)].flatMap(
    ([, name = "", member = ""]) =>
      isSecretName(name) && !openMember.test(name) ? [member.replace(/^(["'])(.*)\1$/s, "$2")] : [],
  );
}

function passwordsIn(value: string): readonly string[] {
  // Up to the last "@" of the address, because an unescaped one may be part of the password.
  return [...value.matchAll(/:\/\/[^\s/@:]{0,200}:([^\s/]{1,400})@/g)].flatMap(
    ([, password]) => password ?? [],
  );
}

/** A secret as it is, line by line, in an address, in JSON, and in base64. */
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

/** A shorter secret is too often an ordinary word, and a part of it in base64 even more so. */
const leastEncoded = 12;

/** For each of the three possible offsets within base64: only the characters that depend on the secret alone. */
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

/** Longest first, because one secret may contain another. */
const longestFirst = (values: readonly string[]): readonly string[] =>
  [...new Set(values)]
    .filter((value) => value.length >= leastLength && !redactedMark.includes(value))
    .sort((a, b) => b.length - a.length);

const withoutValues = (text: string, values: readonly string[]): string =>
  values.reduce((kept, secret) => kept.replaceAll(secret, redactedMark), text);

/**
 * Removes keys, tokens and passwords from text that is shown, recorded or sent. Idempotent. `own`: secrets that
 * only the caller knows.
 */
export function redact(text: string, own: readonly string[] = []): string {
  const values = own.length === 0 ? known : longestFirst([...known, ...own.flatMap(formsOf)]);
  return secrets.reduce(
    (kept, [pattern, replacement]) => kept.replace(pattern, replacement as string),
    withoutValues(text, values),
  );
}

/** Redacts every text in a value for people. */
export const redactJson = <T extends Json>(value: T): T => mapTexts(value, (text) => redact(text)) as T;

/** Redacts an error for a session's record, which people and later attempts read. */
export const redactError = (error: ErrorJson): ErrorJson =>
  redactJson(error as unknown as Json) as unknown as ErrorJson;

/**
 * Passwords and settings that programs and texts use as ordinary words. A shorter word never counts as a known
 * secret.
 */
const ordinaryWords = new Set(
  (
    "postgres postgresql password passwd secret changeme default example localhost development production staging " +
    "enabled disabled required optional session"
  ).split(" "),
);

/** Of values that a person passed on: words that a text may well contain are left out. */
export const withoutOrdinaryWords = (values: readonly string[]): readonly string[] =>
  values.filter((value) => !ordinaryWords.has(value.toLowerCase()));

/**
 * For data that other personas read and checkpoints contain: removes only the values of known secrets. Keeps
 * secrets that are ordinary words, because programs depend on words, and texts that only look like a key, because
 * they may be data.
 */
export function redactData<T extends Json>(value: T): T {
  const values = withoutOrdinaryWords(known);
  return (values.length === 0 ? value : mapTexts(value, (text) => withoutValues(text, values))) as T;
}

function mapTexts(value: Json, change: (text: string) => string): Json {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => mapTexts(item, change));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, mapTexts(member, change)]));
}

/** For text that arrives in pieces: the length of the prefix that contains no part of an unfinished secret. */
export function finishedLength(text: string): number {
  let end = text.length;
  // Keys and passwords are runs of printable ASCII. Other scripts write without spaces.
  while (end > 0 && isPrintable(text.charCodeAt(end - 1))) end -= 1;
  return beforeSpans(end, [
    ...keyBlocks(text),
    ...known.filter(hasSpace).flatMap((one) => places(one, text)),
  ]);
}

/** Longer than the part of any key that is needed to recognize it. */
const keyBeginning = 1024;

/** The minimum text to hold back, so that every secret that began earlier is complete. */
export const mostUnfinished = (): number => Math.max(keyBeginning, known[0]?.length ?? 0);

/** Like `finishedLength`, for a word that is too long to wait for its end. 0: all of it may be one secret. */
export function safeLength(text: string): number {
  const spans = [...known.flatMap((secret) => places(secret, text)), ...keySpans(text)];
  return beforeSpans(Math.max(0, text.length - mostUnfinished()), spans);
}

/** The beginning of the key to which the end of the text may belong. */
export function openKey(text: string): number | undefined {
  const open = keySpans(text).filter(([, to]) => to === text.length);
  return open.length === 0 ? undefined : Math.min(...open.map(([from]) => from));
}

/** The last offset up to `end` that is inside none of the spans. */
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

/** The places of the secret, and where it may have begun. */
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
