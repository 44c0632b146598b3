import { canonicalJson, sha256 } from "../../domain/canonical.ts";
import type { Tree } from "../../domain/tree.ts";
import { namedMatcher } from "../named-files.ts";

/** What decides about the content of a layer. */
export interface LayerTerms {
  readonly run: readonly string[];
  readonly inputs: readonly string[];
  readonly keep: readonly string[];
}

/** The input files with their hashes, sorted; empty when the tree has none of them. */
export function inputsOf(
  { inputs }: Pick<LayerTerms, "inputs">,
  tree: Tree,
): readonly (readonly [string, string])[] {
  const isInput = namedMatcher(inputs);
  const found = [...tree].flatMap(([path, { sha256: hash }]) =>
    isInput(path) ? [[path, hash] as const] : [],
  );
  return found.toSorted(([one], [other]) => (one < other ? -1 : 1));
}

/**
 * The name of a layer: the same command on the same inputs with the same programs gives the same dependencies. Install
 * scripts can change what is installed, so that a layer made without them is another one.
 */
export function layerKey(terms: LayerTerms, tree: Tree, scripts: "on" | "off"): string {
  const { run, keep } = terms;
  const machine = [process.platform, process.arch, process.version];
  const facts = { format: 1, run, keep, inputs: inputsOf(terms, tree), scripts, machine };
  return sha256(canonicalJson(facts));
}
