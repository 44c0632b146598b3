import { existsSync, readFileSync } from "node:fs";
import { extname } from "node:path";

/** Node runs the sources as they stand in development; what is installed was bundled, so no file knows its own place. */
const isBuilt = extname(import.meta.url) === ".js";

let root: URL | undefined;

/** A file of the package that is not code: SQL, the demo's project, package.json. */
export function packageFile(path: string): URL {
  root ??= findRoot();
  return new URL(path, root);
}

export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(packageFile("package.json"), "utf8")) as { version: string };
  return version;
}

/** A module that is started by itself, as a thread or a process; its path under src/, without an ending. */
export function codeFile(path: string): URL {
  return packageFile(isBuilt ? `dist/${path}.js` : `src/${path}.ts`);
}

/** Files beside the code: the build carries them along. */
export function besideCode(path: string): URL {
  return packageFile(`${isBuilt ? "dist" : "src"}/${path}`);
}

function findRoot(): URL {
  for (let folder = new URL("./", import.meta.url); ; folder = new URL("../", folder)) {
    if (existsSync(new URL("package.json", folder))) return folder;
    if (folder.pathname === "/") throw new Error("the package's own files cannot be found");
  }
}
