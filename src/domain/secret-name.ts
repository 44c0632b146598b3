/** Whole words that mark a name as secret. */
const secretWords = new Set([
  "key",
  "keys",
  "pw",
  "passcode",
  "pat",
  "dsn",
  "jwt",
  "auth",
  "authorization",
  "cookie",
  "credential",
  "credentials",
]);
/** Words with one of these endings mark a secret too: PGPASSWORD, SSHPASS, GITHUBTOKEN. */
const secretEnds =
  /(?:pass|(?:passwo?r?d|passphrase|pwd|secret|apikey|accesskey|secretkey|privatekey)s?|token)$/;
/** Many tokens are a number, as in `MAX_TOKENS`, unless the previous word shows that they are keys. */
const secretTokens = /(?:^|_)(?:access|api|bearer|bot|refresh)_?tokens(?:_|$)/;
const ordinaryWords = new Set(["bypass", "compass", "surpass", "trespass"]);
/** The working directory. `DB_PWD` is a password. */
const folderNames = new Set(["pwd", "oldpwd"]);
/** The last word: `SSH_KEY_PATH` is the path of a secret, and `TOKEN_BUDGET` a number. */
const properties = new Set(
  (
    "path file dir directory id name user username url uri host port type sock socket budget limit count max min ttl " +
    "expiry expires seconds ms size length enabled algorithm provider mode version region issuer audience endpoint " +
    "prefix header scope"
  ).split(" "),
);
/** Keys that are not secret, and numbers of keys. */
const openKey =
  /(?:^|_)(?:public|authorized|project|primary|foreign|cache|sort|partition|object|max|min|num)_?keys?$/;
/** The whole value is the secret: a complete header, or an address to which anyone may post. */
const secretValues = /(?:^|_)(?:(?:auth|authorization|cookie)_headers?|webhook(?:_ur[il])?)$/;
/** A product name, not the first of several. */
const productNames = new Set(["auth0"]);

/**
 * Whether a value with this name is a secret: `DB_PASS`, `GITHUB_PAT`, `apiKey2`; not `PWD`, `SSH_KEY_PATH`,
 * `max_tokens`.
 */
export function isSecretName(name: string): boolean {
  const words = name
    .slice(0, 200)
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => (productNames.has(word) ? word : word.replace(/\d+$/, "")))
    .filter((word) => word !== "");
  const whole = words.join("_");
  if (secretValues.test(whole)) return true;
  if (properties.has(words.at(-1) ?? "") || openKey.test(whole) || folderNames.has(whole)) return false;
  if (whole.includes("connection_string") || secretTokens.test(whole)) return true;
  return words.some((word) => secretWords.has(word) || (secretEnds.test(word) && !ordinaryWords.has(word)));
}
