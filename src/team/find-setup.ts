import type { SetupDefinition } from "./definition/setup-keys.ts";

/** A setup derived from a repository's own files, and the file that implies it. */
export interface FoundSetup extends SetupDefinition {
  readonly because: string;
  /** Where it runs; none: in the top folder. */
  readonly folder?: string;
}

type Recipe = Pick<SetupDefinition, "run" | "inputs" | "keep"> & {
  readonly network: readonly string[];
};

const npmHosts = ["registry.npmjs.org"];
const yarnHosts = [...npmHosts, "registry.yarnpkg.com", "repo.yarnpkg.com"];
const pythonHosts = ["pypi.org", "files.pythonhosted.org"];
const modules = { keep: ["**/node_modules"] };
const nodeInputs = ["package.json", "**/package.json", ".npmrc"];

/** A tree, or a set of paths. */
type Paths = Pick<ReadonlySet<string>, "has" | "keys">;

/** The first match of each language applies. Setups reach only the registries of their language. */
const recipes: readonly (readonly (readonly [file: string, recipe: Recipe, besides?: string])[])[] = [
  [
    [
      "pnpm-lock.yaml",
      node(["pnpm", "install", "--frozen-lockfile"], ["pnpm-lock.yaml", "pnpm-workspace.yaml"], npmHosts),
    ],
    [
      "yarn.lock",
      // Checks look for packages in node_modules.
      node(
        ["env", "YARN_NODE_LINKER=node-modules", "yarn", "install", "--immutable"],
        ["yarn.lock", ".yarnrc.yml", ".yarn/**"],
        yarnHosts,
      ),
      ".yarnrc.yml",
    ],
    [
      "yarn.lock",
      node(
        ["yarn", "install", "--frozen-lockfile", "--non-interactive"],
        ["yarn.lock", ".yarnrc"],
        yarnHosts,
      ),
    ],
    ["package-lock.json", node(["npm", "ci"], ["package-lock.json"], npmHosts)],
    ["npm-shrinkwrap.json", node(["npm", "ci"], ["npm-shrinkwrap.json"], npmHosts)],
  ],
  [
    [
      "uv.lock",
      {
        run: ["uv", "sync", "--frozen"],
        inputs: ["uv.lock", "pyproject.toml"],
        keep: [".venv"],
        network: pythonHosts,
      },
    ],
    [
      "requirements.txt",
      {
        run: ["sh", "-c", "python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"],
        inputs: ["requirements*.txt", "constraints.txt"],
        keep: [".venv"],
        network: pythonHosts,
      },
    ],
  ],
  [
    [
      "go.sum",
      {
        run: ["go", "mod", "download"],
        inputs: ["go.mod", "go.sum"],
        keep: ["~/go/pkg/mod"],
        network: ["proxy.golang.org", "sum.golang.org", "storage.googleapis.com"],
      },
    ],
  ],
  [
    [
      "Cargo.lock",
      {
        run: ["cargo", "fetch", "--locked"],
        inputs: ["Cargo.lock", "Cargo.toml", "**/Cargo.toml"],
        // With the sources that the packages came from: offline, cargo looks for them under those names.
        keep: ["~/.cargo"],
        network: ["index.crates.io", "static.crates.io", "crates.io"],
      },
    ],
  ],
  [
    [
      "pom.xml",
      {
        run: ["mvn", "-B", "-q", "dependency:go-offline"],
        inputs: ["pom.xml", "**/pom.xml"],
        // With the mirrors, for the same reason.
        keep: ["~/.m2"],
        network: ["repo.maven.apache.org", "repo1.maven.org"],
      },
    ],
  ],
];

function node(run: readonly string[], lockfiles: readonly string[], network: readonly string[]): Recipe {
  return { run, inputs: [...lockfiles, ...nodeInputs], network, ...modules };
}

/** Words that do not change the effect of an install command. */
const harmless = new Set([
  "--frozen",
  "--frozen-lockfile",
  "--ignore-scripts",
  "--immutable",
  "--include=dev",
  "--locked",
  "--no-audit",
  "--no-fund",
  "--non-interactive",
  "--omit=dev",
  "--prefer-offline",
]);
const bare = (run: readonly string[]): string => JSON.stringify(run.filter((word) => !harmless.has(word)));

/** The recipe of exactly this command; undefined for any other, whose scripts cannot be turned off. */
export const recipeOf = (run: readonly string[]): Recipe | undefined =>
  recipes
    .flat()
    .map(([, recipe]) => recipe)
    .find((recipe) => bare(recipe.run) === bare(run));

const registryHosts: ReadonlySet<string> = new Set(recipes.flat().flatMap(([, { network }]) => network));

/**
 * The public registries that a setup may reach. Their owners do not point them at this network; where they are in it, the
 * user's own network answers for them with a mirror.
 */
export const registriesIn = (network: boolean | readonly string[]): readonly string[] =>
  network === false ? [] : [...registryHosts].filter((host) => network === true || network.includes(host));

/** Whether a lockfile would imply the same setup, without additional hosts. */
export function isFound({ run, network }: Pick<SetupDefinition, "run" | "network">): boolean {
  const recipe = recipes.flat().find(([, one]) => JSON.stringify(one.run) === JSON.stringify(run))?.[1];
  if (recipe === undefined || network === true) return false;
  return network === false || network.every((host) => recipe.network.includes(host));
}

/** A known install needs more than a team may name, such as the manifest beside the lockfile. */
export const inputNames = ({
  run,
  inputs,
  folder,
}: Pick<FoundSetup, "run" | "inputs" | "folder">): readonly string[] => [
  ...new Set([...inputs, ...(recipeOf(run)?.inputs ?? []).map((name) => inFolder(folder, name))]),
];

const inFolder = (folder: string | undefined, name: string): string =>
  folder === undefined || name.startsWith("~/") ? name : `${folder}/${name}`;

const timeoutMs = 600_000;

/** Lockfiles in these belong to tests and examples, or were copied from elsewhere. */
const ofOthers =
  /^(?:\..*|_.*|tests?|__tests__|spec|fixtures?|__fixtures__|examples?|samples?|demos?|templates?|docs?|bench|benchmarks?|vendor|third[-_]party|node_modules)$/i;
/** `web/package-lock.json` and `apps/web/package-lock.json`. */
const deepest = 2;
const most = 10;

/** The setups implied by the repository's lockfiles. */
export function findSetups(tree: Paths): readonly FoundSetup[] {
  const folders = foldersOf(tree);
  return recipes.flatMap((language) => {
    const top = findIn(language, tree, undefined);
    if (top !== undefined) return [top];
    const below = folders.flatMap((folder) => findIn(language, tree, folder) ?? []).slice(0, most);
    // A folder of the home has one place: a second setup would hide the first.
    return below.length > 1 && below.some(({ keep }) => keep.some((place) => place.startsWith("~/")))
      ? []
      : below;
  });
}

function findIn(
  language: (typeof recipes)[number],
  tree: Paths,
  folder: string | undefined,
): FoundSetup | undefined {
  const has = (name: string) => tree.has(inFolder(folder, name));
  const found = language.find(([file, , besides]) => has(file) && (besides === undefined || has(besides)));
  if (found === undefined) return undefined;
  const [file, { run, inputs, keep, network }] = found;
  const here = (names: readonly string[]) => names.map((name) => inFolder(folder, name));
  return {
    run,
    inputs: here(inputs),
    keep: here(keep),
    network,
    because: inFolder(folder, file),
    env: [],
    timeoutMs,
    ...(folder !== undefined && { folder }),
  };
}

function foldersOf(tree: Paths): readonly string[] {
  const found = new Set<string>();
  for (const path of tree.keys()) {
    const names = path.split("/").slice(0, -1);
    if (names.length >= 1 && names.length <= deepest && !names.some((name) => ofOthers.test(name)))
      found.add(names.join("/"));
  }
  return [...found].sort();
}
