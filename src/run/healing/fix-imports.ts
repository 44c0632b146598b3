import { posix } from "node:path";
import type { Failure } from "../../domain/failure.ts";
import type { FixedImport } from "../../domain/healing-action.ts";
import type { Tree } from "../../domain/tree.ts";
import { isInstalled } from "../../domain/tree-path.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Healer } from "./healer.ts";

const modules = /\.(?:[cm]?[jt]sx?|json)$/;
const maxFileBytes = 512 * 1024;
/** Of `import x from "./y"`, `import "./y"`, `export * from "./y"`, `import("./y")` and `require("./y")`. */
const specifiers = /((?:\bfrom|\bimport|\brequire\()\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]{1,300})\2/g;

/** Corrects a broken relative import that a failure names, if exactly one file can be meant. */
export const fixImports: Healer = {
  name: "fix-imports",
  categories: ["IMPORT", "TYPE", "TEST_FAILURE"],
  heal: async ({ failure, checks, workspace, result, mayWrite }) => {
    // The files of unfinished work cannot be judged.
    if (result === undefined) return undefined;
    const missing = [failure, ...checks.flatMap((check) => check.failures)].filter(isMissingModule);
    if (missing.length === 0) return undefined;
    const imports: FixedImport[] = [];
    for (const path of workspace.list()) {
      if (!modules.test(path) || !mayWrite(path)) continue;
      if ((workspace.tree.get(path)?.bytes ?? 0) > maxFileBytes) continue;
      imports.push(...(await fixFile(path, workspace, missing)));
    }
    return imports.length === 0 ? undefined : { action: { kind: "fixed-imports", imports } };
  },
};

const isMissingModule = ({ category, message, code = "" }: Failure): boolean =>
  category === "IMPORT" ||
  /cannot find (?:module|package)|TS2307|TS2835|MODULE_NOT_FOUND/i.test(`${message} ${code}`);

async function fixFile(
  path: string,
  workspace: Workspace,
  missing: readonly Failure[],
): Promise<FixedImport[]> {
  const text = await workspace.readText(path);
  const fixed: FixedImport[] = [];
  const corrected = text.replace(specifiers, (...found) => {
    const [whole, before, quote, specifier, offset] = found as [string, string, string, string, number];
    const line = text.slice(0, offset + whole.length).split("\n").length;
    const failure = missing.find((each) => names(each, path, { specifier, line }));
    if (failure === undefined) return whole;
    const meant = meantBy(failure) ?? meaningOf(path, specifier, workspace.tree);
    if (meant === undefined) return whole;
    fixed.push({ path, from: specifier, to: meant });
    return `${before}${quote}${meant}${quote}`;
  });
  if (fixed.length > 0) await workspace.write(path, corrected);
  return fixed;
}

interface WrittenImport {
  readonly specifier: string;
  readonly line: number;
}

/**
 * Tools name the importing file with the line or the specifier (tsc, bundlers), or the target path (Node). An import that
 * no failure names is left alone.
 */
function names(failure: Failure, importer: string, { specifier, line }: WrittenImport): boolean {
  const { message, details = "", file } = failure;
  const report = `${message}\n${details}`;
  const isImporter = file === undefined ? mentions(report, importer) : endsWithPath(file, importer);
  const target = posix.join(posix.dirname(importer), specifier);
  const quoted = [`"${specifier}"`, `'${specifier}'`, `\`${specifier}\``].some((word) =>
    report.includes(word),
  );
  const atLine = file !== undefined && failure.line === line;
  return (isImporter && (quoted || atLine)) || mentions(report, target);
}

/** tsc suggests the spelling of its settings: "Did you mean './b.js'?" */
function meantBy({ message, details = "" }: Failure): string | undefined {
  return /Did you mean ['"](\.{1,2}\/[^'"\n]{1,300})['"]/.exec(`${message}\n${details}`)?.[1];
}

const endsWithPath = (file: string, path: string): boolean => file === path || file.endsWith(`/${path}`);

/** As a whole path, possibly after the folder of the run. */
function mentions(text: string, path: string): boolean {
  const escaped = path.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`(?:^|[\\s"'\`(/])${escaped}(?![\\w./-]*\\w)`, "m").test(text);
}

/** Undefined when it is already right, or when more than one file could be meant. */
function meaningOf(importer: string, specifier: string, tree: Tree): string | undefined {
  const folder = posix.dirname(importer);
  const target = posix.join(folder, specifier);
  if (leadsSomewhere(target, tree, importer)) return undefined;
  const [stem] = target.replace(/\.(?:[cm]?[jt]sx?)$/, "").split("?");
  const beside = [...tree.keys()].filter(
    (path) => path.replace(modules, "") === stem || path.replace(modules, "") === `${stem}/index`,
  );
  const name = posix.basename(stem ?? "");
  const elsewhere = [...tree.keys()].filter(
    (path) => modules.test(path) && !isInstalled(path) && posix.basename(path).replace(modules, "") === name,
  );
  const candidates = beside.length > 0 ? beside : elsewhere;
  const [only] = candidates;
  if (candidates.length !== 1 || only === undefined || only === importer) return undefined;
  const relative = posix.relative(folder, only);
  return relative.startsWith(".") ? relative : `./${relative}`;
}

/** TypeScript imports use the name of the compiled file. Other spellings depend on the bundler. */
function leadsSomewhere(target: string, tree: Tree, importer: string): boolean {
  if (tree.has(target)) return true;
  if (!/\.[cm]?tsx?$/.test(importer)) return false;
  const sources: Readonly<Record<string, readonly string[]>> = {
    ".js": [".ts", ".tsx"],
    ".jsx": [".tsx"],
    ".mjs": [".mts"],
    ".cjs": [".cts"],
  };
  const extension = posix.extname(target);
  return (sources[extension] ?? []).some((ending) => tree.has(target.slice(0, -extension.length) + ending));
}
