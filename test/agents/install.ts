import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const here = import.meta.dirname;

/** Installs the agents, unless they are there in the versions of the lock. */
export function setup(): void {
  if (isInstalled()) return;
  // Not `npm ci`: it refuses a registry that lacks packages of other platforms. The agents need no install scripts.
  const options = ["--no-save", "--ignore-scripts", "--no-audit", "--no-fund"];
  const { status, stderr, error } = spawnSync("npm", ["install", ...options], {
    cwd: here,
    encoding: "utf8",
  });
  if (status === 0) return;
  throw new Error(
    `The agents of test/agents could not be installed: ${error?.message ?? stderr.slice(-2000)}`,
  );
}

function isInstalled(): boolean {
  const { dependencies } = JSON.parse(readFileSync(join(here, "package.json"), "utf8")) as {
    readonly dependencies: Readonly<Record<string, string>>;
  };
  return Object.entries(dependencies).every(([name, version]) => {
    const manifest = join(here, "node_modules", name, "package.json");
    return existsSync(manifest) && JSON.parse(readFileSync(manifest, "utf8")).version === version;
  });
}
