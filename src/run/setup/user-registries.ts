import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where the user's own package managers get packages, without any credentials. */
export interface UserRegistries {
  /** Variables for the command. */
  readonly env: Readonly<Record<string, string>>;
  /** A `.npmrc` for the command's home; undefined when the user has set no registry. */
  readonly npmrc: string | undefined;
  /** The hosts of all of them. The user chose them, so they may be in the user's own network. */
  readonly hosts: readonly string[];
}

const variables = [
  "npm_config_registry",
  "NPM_CONFIG_REGISTRY",
  "PIP_INDEX_URL",
  "UV_INDEX_URL",
  "UV_DEFAULT_INDEX",
  "GOPROXY",
];
/** `registry=...` and `@scope:registry=...`; every other line of the file may hold a token. */
const registryLine = /^\s*((?:@[\w.-]+:)?registry)\s*=\s*(\S+)\s*$/;

export async function userRegistries(
  environment: NodeJS.ProcessEnv,
  home: string = homedir(),
): Promise<UserRegistries> {
  const text = await readFile(environment["npm_config_userconfig"] ?? join(home, ".npmrc"), "utf8").catch(
    () => "",
  );
  const lines = text.split("\n").flatMap((line) => {
    const [, name, address] = registryLine.exec(line) ?? [];
    const plain = withoutCredentials(address);
    return name === undefined || plain === undefined ? [] : [{ line: `${name}=${plain}`, plain }];
  });
  const named = variables.flatMap((name) => {
    const plain = withoutCredentials(environment[name]);
    return plain === undefined ? [] : [[name, plain] as const];
  });
  const hosts = [...lines.map(({ plain }) => plain), ...named.map(([, plain]) => plain)].flatMap(
    (address) => URL.parse(address)?.host ?? [],
  );
  return {
    env: Object.fromEntries(named),
    npmrc: lines.length === 0 ? undefined : `${lines.map(({ line }) => line).join("\n")}\n`,
    hosts: [...new Set(hosts)],
  };
}

const certificateVariables = [
  "NODE_EXTRA_CA_CERTS",
  "SSL_CERT_FILE",
  "npm_config_cafile",
  "PIP_CERT",
  "REQUESTS_CA_BUNDLE",
  "CURL_CA_BUNDLE",
  "GIT_SSL_CAINFO",
];

/** Certificates that the user trusts besides those of the system, as a network with its own authority needs them. */
export async function userCertificates(
  environment: NodeJS.ProcessEnv,
): Promise<{ readonly env: Readonly<Record<string, string>>; readonly files: readonly string[] }> {
  const found: [string, string][] = [];
  for (const name of certificateVariables) {
    const path = environment[name];
    if (path === undefined || !isAbsolute(path)) continue;
    const text = await readFile(path, "latin1").catch(() => "");
    // A file with a key in it is nothing that an install script may read.
    if (text.includes("-----BEGIN CERTIFICATE-----") && !text.includes("PRIVATE KEY"))
      found.push([name, path]);
  }
  return { env: Object.fromEntries(found), files: [...new Set(found.map(([, path]) => path))] };
}

/** Undefined for what is no address, such as `direct` or `${VARIABLE}`. */
function withoutCredentials(address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}
