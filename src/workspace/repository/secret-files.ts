/** By name: such a file counts as secret even if no pattern matches its content. */
const secretNames: readonly RegExp[] = [
  /^\.env/i,
  /\.env$/i,
  /^id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?$/i,
  /\.(?:pem|key|p12|pfx|p8|jks|keystore|kdbx|ppk|asc)$/i,
  /\.(?:crt|cer|der|p7b|p7c)$/i,
  /^[._]?(?:netrc|pgpass|htpasswd|git-credentials|pypirc|vault-token|dockercfg)$/i,
  /^(?:credentials|secrets?)(?:\.(?:json|ya?ml|ini|toml|properties))?$/i,
  /^(?:service[-_]?account|client[-_]?secret)[^/]*\.json$/i,
  /^(?:gcp|gcloud|google|firebase)[^/]*(?:key|adminsdk|credentials)[^/]*\.json$/i,
  /^kubeconfig(?:\.ya?ml)?$/i,
  /\.(?:tfstate|tfvars|tfvars\.json)$/i,
];

/** Files whose folder marks them as secret. */
const secretPaths = /(?:^|\/)(?:\.docker\/config\.json|\.kube\/config|\.aws\/(?:config|credentials))$/i;

/** Files that list variables without their values. */
const exampleName = /\.(?:example|sample|template)$|^(?:example|sample)\.env$/i;
const publicName = /\.pub$/i;
/** A copy of a secret is a secret. */
const copyEnding = /(?:\.(?:bak|backup|old|orig|save)|~)$/i;

/** Keys with a known prefix. Each pattern is linear and starts at fixed text. */
const keyShapes: readonly (readonly [what: string, shape: RegExp])[] = [
  ["a private key", /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY(?: BLOCK)?-----/],
  ["an AWS key", /(?<![A-Z0-9])(?:AKIA|ASIA)[0-9A-Z]{16}(?![A-Z0-9])/],
  [
    "an AWS secret key",
    /aws_secret_access_key["']?\s{0,9}[:=]\s{0,9}["']?[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+])/i,
  ],
  ["an Azure account key", /AccountKey=[A-Za-z0-9+/]{80,}={0,2}/],
  ["a GitHub token", /(?<![A-Za-z0-9_])(?:gh[pousr]_[A-Za-z0-9]{36,}|github_pat_[A-Za-z0-9_]{40,})/],
  ["a GitLab token", /(?<![\w-])glpat-[\w-]{20,}/],
  ["a Slack token", /(?<![\w-])xox[abprs]-[\w-]{20,}/],
  ["a Slack webhook", /hooks\.slack\.com\/services\/T\w{6,}\/B\w{6,}\/\w{20,}/],
  ["a Google key", /(?<![\w-])AIza[\w-]{35}(?![\w-])/],
  ["a Stripe key", /(?<![\w-])(?:sk|rk)_(?:live|test)_[A-Za-z0-9]{20,}/],
  ["a SendGrid key", /(?<![\w-])SG\.[\w-]{16,}\.[\w-]{32,}/],
  ["an Anthropic key", /(?<![\w-])sk-ant-[\w-]{20,}/],
  ["an OpenAI key", /(?<![\w-])sk-(?:proj-)?[A-Za-z0-9_-]{40,}/],
  ["a Hugging Face token", /(?<![\w-])hf_[A-Za-z0-9]{30,}/],
  ["an npm token", /(?<![\w-])npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/],
  ["a token of a package registry", /_authToken\s{0,9}=\s{0,9}["']?[^\s"'$]{8,}/],
  ["a PyPI token", /(?<![\w-])pypi-[\w-]{50,}/],
  ["a DigitalOcean token", /(?<![\w-])do[opr]_v1_[a-f0-9]{64}/],
  ["a Docker token", /(?<![\w-])dckr_pat_[\w-]{20,}/],
];

/** People do not write larger text files. */
const mostScanned = 1024 * 1024;

/** Why a file's name excludes it; undefined for an ordinary one. */
export function secretByName(path: string): string | undefined {
  const original = path.replace(copyEnding, "");
  const name = original.slice(original.lastIndexOf("/") + 1);
  if (exampleName.test(name) || publicName.test(name)) return undefined;
  return secretPaths.test(original) || secretNames.some((pattern) => pattern.test(name))
    ? "its name says that it holds secrets"
    : undefined;
}

/** Why a file's content excludes it. */
export function secretByContent(content: Buffer): string | undefined {
  if (content.length > mostScanned || content.includes(0)) return undefined;
  const text = content.toString("latin1");
  const found = keyShapes.find(([, shape]) => shape.test(text));
  return found === undefined ? undefined : `it holds ${found[0]}`;
}
