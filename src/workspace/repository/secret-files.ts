/** By name: the file would hold a secret even if no pattern finds one in it. */
const secretNames: readonly RegExp[] = [
  /^\.env(?:\..*)?$/i,
  /^\.envrc$/i,
  /\.env$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /\.(?:pem|key|p12|pfx|jks|keystore|kdbx|ppk|asc)$/i,
  /^\.(?:netrc|pgpass|htpasswd|git-credentials|pypirc)$/i,
  /^_netrc$/i,
  /^credentials(?:\.(?:json|ya?ml|ini|toml))?$/i,
  /^(?:service[-_]?account|client[-_]?secret)[^/]*\.json$/i,
];

/** Files that show which variables there are, without their values. */
const exampleName = /\.(?:example|sample|template|dist)$|^example\.env$|^sample\.env$/i;
const publicName = /\.pub$/i;

/** Keys that are known by how they begin. Each is linear and starts at a fixed text. */
const keyShapes: readonly (readonly [what: string, shape: RegExp])[] = [
  ["a private key", /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/],
  ["an AWS key", /(?<![A-Z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Z0-9])/],
  ["a GitHub token", /(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})/],
  ["a GitLab token", /(?<![\w-])glpat-[\w-]{20,}/],
  ["a Slack token", /(?<![\w-])xox[abprs]-[\w-]{20,}/],
  ["a Google key", /(?<![\w-])AIza[\w-]{35}(?![\w-])/],
  ["a Stripe key", /(?<![\w-])(?:sk|rk)_live_[A-Za-z0-9]{20,}/],
  ["an Anthropic key", /(?<![\w-])sk-ant-[\w-]{20,}/],
  ["an OpenAI key", /(?<![\w-])sk-(?:proj-)?[A-Za-z0-9_-]{40,}/],
  ["an npm token", /(?<![\w-])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/],
];

/** A larger file is not text that people wrote. */
const mostScanned = 1024 * 1024;

/** Why a file of a repository stays home by its name; undefined for an ordinary one. */
export function secretByName(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (exampleName.test(name) || publicName.test(name)) return undefined;
  return secretNames.some((pattern) => pattern.test(name))
    ? "its name says that it holds secrets"
    : undefined;
}

/** Why a file stays home by its content. */
export function secretByContent(content: Buffer): string | undefined {
  if (content.length > mostScanned || content.includes(0)) return undefined;
  const text = content.toString("latin1");
  const found = keyShapes.find(([, shape]) => shape.test(text));
  return found === undefined ? undefined : `it holds ${found[0]}`;
}
