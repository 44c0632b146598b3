import { isJsonObject, type JsonObject, parseJson } from "../../domain/json.ts";

/** The files of a repository that name its tools and tests. */
export interface RepositoryFiles {
  readonly has: (path: string) => boolean;
  /** Of a file that `manifestFiles` names; undefined where it is missing. */
  readonly text: (path: string) => string | undefined;
  readonly paths: readonly string[];
}

/** A command that a repository's own files ask for. */
export interface FoundCheck {
  readonly name: string;
  readonly run: readonly string[];
}

/** The files whose content `findChecks` reads. */
export const manifestFiles = ["package.json", "pyproject.toml", "setup.cfg", "pytest.ini"] as const;

/** The tests, lint, types and build of a repository. Two languages with a check of one name keep both. */
export function findChecks(files: RepositoryFiles): readonly FoundCheck[] {
  const found = [...ofNode(files), ...ofPython(files), ...ofGo(files), ...ofRust(files), ...ofMaven(files)];
  return found.map(({ name, language, run }) => {
    const isTaken = found.some((other) => other.name === name && other.language !== language);
    return { name: isTaken ? `${language}-${name}` : name, run };
  });
}

interface NamedCheck extends FoundCheck {
  readonly language: string;
}

/** Names of scripts, as packages call them. */
const scripts: Readonly<Record<string, readonly string[]>> = {
  test: ["test"],
  lint: ["lint"],
  types: ["types", "typecheck", "type-check", "check-types", "tsc"],
  build: ["build"],
};

function ofNode(files: RepositoryFiles): NamedCheck[] {
  const declared = readObject(files.text("package.json"), "scripts");
  const manager = files.has("pnpm-lock.yaml") ? "pnpm" : files.has("yarn.lock") ? "yarn" : "npm";
  return Object.entries(scripts).flatMap(([name, words]) => {
    const word = words.find((one) => typeof declared[one] === "string");
    const script = word === undefined ? undefined : (declared[word] as string);
    // `npm init` writes this into a package without tests.
    if (word === undefined || script === undefined || script.includes("no test specified")) return [];
    const names = namesTests(script);
    const more = names === undefined ? [] : [...(manager === "npm" ? ["--"] : []), names];
    return [{ language: "node", name, run: [manager, ...(word === "test" ? [] : ["run"]), word, ...more] }];
  });
}

/** The flag with which a runner names every test, where the script is one command. */
function namesTests(script: string): string | undefined {
  if (/[|&;<>]/.test(script)) return undefined;
  if (/\bvitest\b/.test(script)) return "--reporter=verbose";
  return /\bjest\b/.test(script) ? "--verbose" : undefined;
}

/** Whether package.json names packages that its scripts may need. */
export const hasNodeDependencies = (files: Pick<RepositoryFiles, "text">): boolean =>
  ["dependencies", "devDependencies", "optionalDependencies"].some(
    (name) => Object.keys(readObject(files.text("package.json"), name)).length > 0,
  );

function readObject(text: string | undefined, name: string): JsonObject {
  if (text === undefined) return {};
  try {
    const manifest = parseJson(text);
    const found = isJsonObject(manifest) ? manifest[name] : undefined;
    return found !== undefined && isJsonObject(found) ? found : {};
  } catch {
    return {};
  }
}

function ofPython(files: RepositoryFiles): NamedCheck[] {
  const settings = ["pyproject.toml", "setup.cfg"].map((file) => files.text(file) ?? "").join("\n");
  const hasTests =
    files.has("pytest.ini") ||
    files.paths.some((path) => /(?:^|\/)(?:test_[^/]*|[^/]*_test)\.py$/.test(path));
  const isInstalled = files.has("uv.lock") || files.has("requirements.txt");
  const python = isInstalled ? ".venv/bin/python" : "python3";
  const module = (name: string, ...args: readonly string[]) => [python, "-m", name, ...args];
  return [
    ...(hasTests ? [{ language: "python", name: "test", run: module("pytest", "-v") }] : []),
    ...(/^\[tool\.ruff/m.test(settings)
      ? [{ language: "python", name: "lint", run: module("ruff", "check") }]
      : []),
    ...(/^\[(?:tool\.)?mypy/m.test(settings)
      ? [{ language: "python", name: "types", run: module("mypy", ".") }]
      : []),
  ];
}

function ofGo({ has }: RepositoryFiles): NamedCheck[] {
  if (!has("go.mod")) return [];
  const go = (name: string, ...args: readonly string[]) => ({ language: "go", name, run: ["go", ...args] });
  return [
    go("test", "test", "-v", "./..."),
    go("lint", "vet", "./..."),
    go("build", "build", "-o", "/dev/null", "./..."),
  ];
}

function ofRust({ has }: RepositoryFiles): NamedCheck[] {
  if (!has("Cargo.toml")) return [];
  const offline = has("Cargo.lock") ? ["--offline"] : [];
  const cargo = (name: string) => ({ language: "rust", name, run: ["cargo", name, ...offline] });
  return [cargo("test"), cargo("build")];
}

const ofMaven = ({ has }: RepositoryFiles): NamedCheck[] =>
  has("pom.xml") ? [{ language: "java", name: "test", run: ["mvn", "-B", "-o", "test"] }] : [];
