import type { GivenPhase } from "../domain/journal.ts";
import { emptyTree, type Tree } from "../domain/tree.ts";
import type { Artifacts } from "../state/artifacts.ts";
import { loadTree } from "../workspace/stored-tree.ts";
import type { Origin } from "./create-session.ts";
import { orderPhases } from "./definition/order.ts";
import type { TeamDefinition } from "./definition/team-definition.ts";
import { givePhase, type PhaseEdit } from "./phase-edit.ts";
import { unknownPhase } from "./selection.ts";

/** Phases from outside, each on top of the files of the ones before it. */
export async function giveAll(
  definition: TeamDefinition,
  given: Readonly<Record<string, (PhaseEdit & { readonly origin?: string }) | undefined>>,
  artifacts: Artifacts,
): Promise<Origin> {
  const order = orderPhases(definition);
  for (const name of Object.keys(given)) if (!order.includes(name)) throw unknownPhase(name, order);
  const phases: GivenPhase[] = [];
  const kept: string[] = [];
  let tree: Tree = emptyTree;
  let base: string | undefined;
  for (const name of order) {
    const gift = given[name];
    if (gift === undefined) continue;
    const { content, artifacts: stored } = await givePhase(definition, name, gift, tree, artifacts);
    phases.push({ ...content, ...(base !== undefined && { base }), origin: gift.origin ?? "given" });
    kept.push(...stored);
    if (content.tree === undefined) continue;
    tree = await loadTree(artifacts, content.tree);
    base = content.tree;
  }
  return phases.length === 0 ? {} : { given: phases, artifacts: kept };
}
