import { posix } from "node:path";
import type { Failure } from "../../domain/failure.ts";
import type { Workspace } from "../../workspace/workspace.ts";
import type { Healer } from "./healer.ts";

const modules = /\.(?:[cm]?[jt]sx?|json)$/;
const maxFileBytes = 512 * 1024;
/** Of `import x from "./y"`, `import "./y"`, `export * from "./y"`, `import("./y")` and `require("./y")`. */
const specifiers = /((?:\bfrom|\bimport|\brequire\()\s*\(?\s*)(["'])(\.{1,2}\/[^"'\n]{1,300})\2/g;

/** A relative import that leads nowhere is pointed to the one file it can mean. */
export const fixImports: Healer = {
  name: "fix-imports",
  categories: ["IMPORT", "TYPE", "TEST_FAILURE"],
  heal: async ({ failure, checks, workspace }) => {
    const failures = [failure, ...checks.flatMap((check) => check.failures)];
    if (!failures.some(isMissingModule)) return undefined;
    const fixed: string[] = [];
    for (const path of workspace.list()) {
      if (!modules.test(path) || (workspace.tree.get(path)?.bytes ?? 0) > maxFileBytes) continue;
      fixed.push(...(await fixFile(path, workspace)));
    }
    return fixed.length === 0
      ? undefined
      : { action: `pointed imports to files that exist: ${fixed.join(", ")}` };
  },
};

const isMissingModule = ({ category, message, code = "" }: Failure): boolean =>
  category === "IMPORT" ||
  /cannot find (?:module|package)|TS2307|TS2835|MODULE_NOT_FOUND/i.test(`${message} ${code}`);

async function fixFile(path: string, workspace: Workspace): Promise<string[]> {
  const text = await workspace.readText(path);
  const fixed: string[] = [];
  const mended = text.replace(specifiers, (whole, before: string, quote: string, specifier: string) => {
    const meant = meaningOf(path, specifier, workspace);
    if (meant === undefined) return whole;
    fixed.push(`${specifier} in ${path} is ${meant}`);
    return `${before}${quote}${meant}${quote}`;
  });
  if (fixed.length > 0) await workspace.write(path, mended);
  return fixed;
}

/** Undefined when it is right already, and when more than one file could be meant. */
function meaningOf(importer: string, specifier: string, { tree }: Workspace): string | undefined {
  const folder = posix.dirname(importer);
  const target = posix.join(folder, specifier);
  if (tree.has(target)) return undefined;
  const [stem] = target.replace(/\.(?:[cm]?[jt]sx?)$/, "").split("?");
  const beside = [...tree.keys()].filter(
    (path) => path.replace(modules, "") === stem || path.replace(modules, "") === `${stem}/index`,
  );
  const name = posix.basename(stem ?? "");
  const elsewhere = [...tree.keys()].filter(
    (path) => modules.test(path) && posix.basename(path).replace(modules, "") === name,
  );
  const candidates = beside.length > 0 ? beside : elsewhere;
  const [only] = candidates;
  if (candidates.length !== 1 || only === undefined || only === importer) return undefined;
  const relative = posix.relative(folder, only);
  return relative.startsWith(".") ? relative : `./${relative}`;
}
