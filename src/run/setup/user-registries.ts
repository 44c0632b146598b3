import { readFile } from "node:fs/promises";
import { homedir } from "node:os";
import { isAbsolute, join } from "node:path";

/** Where the user's own package managers get packages, without any credentials. */
export interface UserRegistries {
  /** Variables for the command. */
  readonly env: Readonly<Record<string, string>>;
  /** Files for the command's home, for what no variable can say. */
  readonly files: ReadonlyMap<string, string>;
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
  const text = await read(environment["npm_config_userconfig"] ?? join(home, ".npmrc"));
  const [cargo, maven] = await Promise.all([cargoSources(environment, home), mavenMirrors(home)]);
  const lines = text.split("\n").flatMap((line) => {
    const [, name, address] = registryLine.exec(line) ?? [];
    const plain = withoutCredentials(address);
    return name === undefined || plain === undefined ? [] : [{ line: `${name}=${plain}`, plain }];
  });
  const named = variables.flatMap((name) => {
    const plain = withoutCredentials(environment[name]);
    return plain === undefined ? [] : [[name, plain] as const];
  });
  const addresses = [
    ...lines.map(({ plain }) => plain),
    ...named.map(([, plain]) => plain),
    ...[cargo, maven].flatMap((own) => own?.addresses ?? []),
  ];
  const hosts = addresses.flatMap((address) => URL.parse(address)?.host ?? []);
  return {
    env: Object.fromEntries(named),
    files: new Map([
      ...(lines.length === 0 ? [] : [[".npmrc", `${lines.map(({ line }) => line).join("\n")}\n`] as const]),
      ...(cargo === undefined ? [] : [[".cargo/config.toml", cargo.text] as const]),
      ...(maven === undefined ? [] : [[".m2/settings.xml", maven.text] as const]),
    ]),
    hosts: [...new Set(hosts)],
  };
}

interface OwnFile {
  readonly text: string;
  readonly addresses: readonly string[];
}

/** Replaced sources, which no variable can name: `[source.x]` with `registry` and `replace-with`. */
async function cargoSources(environment: NodeJS.ProcessEnv, home: string): Promise<OwnFile | undefined> {
  const folder = environment["CARGO_HOME"] ?? join(home, ".cargo");
  const sources = readSources(
    (await read(join(folder, "config.toml"))) || (await read(join(folder, "config"))),
  );
  // cargo refuses a source that is nowhere; folders of this machine are not in the sandbox.
  const isKnown = (name: string | undefined) => name !== undefined && sources.get(name)?.plain !== undefined;
  const lines = [...sources].flatMap(([name, { registry, replacedBy }]) => {
    const kept = isKnown(replacedBy) ? [`replace-with = "${replacedBy}"`] : [];
    if (registry !== undefined) kept.unshift(`registry = "${registry}"`);
    return kept.length === 0 ? [] : [`[source."${name}"]`, ...kept];
  });
  const addresses = [...sources.values()].flatMap(({ plain }) => plain ?? []);
  return addresses.length === 0 ? undefined : { text: `${lines.join("\n")}\n`, addresses };
}

interface CargoSource {
  registry?: string;
  /** Its address, without what cargo writes before it. */
  plain?: string;
  replacedBy?: string;
}

function readSources(text: string): ReadonlyMap<string, CargoSource> {
  const sources = new Map<string, CargoSource>();
  let source: CargoSource | undefined;
  for (const line of text.split("\n")) {
    const section = /^\s*\[\s*([^\]]*?)\s*\]/.exec(line)?.[1];
    if (section !== undefined) {
      const [, bare, quoted] = /^source\.(?:([\w-]+)|"([\w.:/-]+)")$/.exec(section) ?? [];
      const name = bare ?? quoted;
      source = name === undefined ? undefined : {};
      if (name !== undefined && source !== undefined) sources.set(name, source);
      continue;
    }
    const [, key, value = ""] = /^\s*(registry|replace-with)\s*=\s*["']([^"']*)["']/.exec(line) ?? [];
    if (source === undefined || key === undefined) continue;
    if (key === "replace-with") source.replacedBy = value;
    else Object.assign(source, readRegistry(value));
  }
  return sources;
}

function readRegistry(value: string): CargoSource {
  const [, sparse = "", address] = /^(sparse\+)?(.*)$/.exec(value) ?? [];
  const plain = withoutCredentials(address);
  return plain === undefined ? {} : { registry: `${sparse}${plain}`, plain };
}

/** The mirrors of the user's settings.xml. Servers and profiles, which may hold passwords, are not read. */
async function mavenMirrors(home: string): Promise<OwnFile | undefined> {
  const text = (await read(join(home, ".m2", "settings.xml"))).replace(/<!--[^]*?-->/g, "");
  const addresses: string[] = [];
  const mirrors = [...text.matchAll(/<mirror>([^]*?)<\/mirror>/g)].flatMap(([, mirror = ""]) => {
    const valueOf = (name: string) => new RegExp(`<${name}>\\s*([^<]*?)\\s*</${name}>`).exec(mirror)?.[1];
    const [id, of, address] = ["id", "mirrorOf", "url"].map(valueOf);
    const plain = withoutCredentials(address);
    if (id === undefined || of === undefined || plain === undefined || plain.includes("$")) return [];
    addresses.push(plain);
    return `<mirror><id>${id}</id><mirrorOf>${of}</mirrorOf><url>${plain}</url></mirror>`;
  });
  if (mirrors.length === 0) return undefined;
  return { text: `<settings><mirrors>${mirrors.join("")}</mirrors></settings>\n`, addresses };
}

const read = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");

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

/** Undefined for a value that is not an address, such as `direct` or `${VARIABLE}`. */
function withoutCredentials(address: string | undefined): string | undefined {
  const url = address === undefined ? null : URL.parse(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return undefined;
  url.username = "";
  url.password = "";
  return url.href;
}
