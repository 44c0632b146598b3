import { scryptSync } from "node:crypto";
import { canonicalJson, sha256 } from "../../domain/canonical.ts";
import { type Tree, treeHash } from "../../domain/tree.ts";
import type { ExtraFiles } from "../extra-files.ts";
import { namedMatcher } from "../named-files.ts";

/** Everything that a setup sees, which determines the content of its layer. */
export interface LayerTerms {
  readonly run: readonly string[];
  /** Where it runs; none: in the top folder. */
  readonly folder?: string;
  readonly keep: readonly string[];
  readonly network: boolean | readonly string[];
  /** Names of variables. */
  readonly env: readonly string[];
  readonly inputs: Tree;
  /** The manifest of all files of the base; null if the setup sees only its inputs. */
  readonly base: string | null;
  /** Files with secrets that the setup sees too. */
  readonly extra: ExtraFiles;
  readonly scripts: "on" | "off";
}

/** The files that are inputs. */
export function inputsOf(names: readonly string[], tree: Tree): Tree {
  const isInput = namedMatcher(names);
  return new Map([...tree].filter(([path]) => isInput(path)));
}

/**
 * The files that a setup sees. Of the session's changes it sees only the inputs: any other file could put content
 * into a layer that other sessions use under the same key.
 */
export function seenFiles(names: readonly string[], inputs: Tree, base: Tree): Tree {
  const isInput = namedMatcher(names);
  return new Map([...[...base].filter(([path]) => !isInput(path)), ...inputs]);
}

/** The key of a layer: the same command on the same files with the same programs gives the same dependencies. */
export function layerKey({
  run,
  folder = "",
  keep,
  network,
  env,
  inputs,
  base,
  extra,
  scripts,
}: LayerTerms): string {
  const machine = [process.platform, process.arch, process.version];
  const facts = {
    format: 2,
    run,
    folder,
    keep,
    network,
    env,
    inputs: treeHash(inputs),
    base,
    scripts,
    machine,
  };
  return sha256(canonicalJson({ ...facts, ...(extra.size > 0 && { extra: hashOfSecrets(extra) }) }));
}

/** The key is recorded: with a fast hash, readers could guess a short secret. */
function hashOfSecrets(files: ExtraFiles): string {
  const known = hashes.get(files);
  if (known !== undefined) return known;
  const hash = scryptSync(
    canonicalJson([...files].map(([path, content]) => [path, content.toString("base64")])),
    "maestro layer",
    32,
  ).toString("hex");
  hashes.set(files, hash);
  return hash;
}

const hashes = new WeakMap<ExtraFiles, string>();
