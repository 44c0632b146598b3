import { newSessionId } from "../domain/ids.ts";
import type { GivenPhase } from "../journal/journal.ts";
import { emptyState } from "../journal/session-state.ts";
import { withPhase } from "../journal/update.ts";
import type { Blobs } from "../store/blobs.ts";
import { orderPhases } from "../team/definition/order.ts";
import type { TeamDefinition } from "../team/definition/team-definition.ts";
import type { Origin } from "./create-session.ts";
import { Readings } from "./persona-inputs.ts";
import { givePhase, type PhaseEdit } from "./phase-edit.ts";
import { unknownPhase } from "./selection.ts";
import { SessionTrees } from "./trees.ts";

/** Phases from outside, each on top of the files of those it depends on. */
export async function giveAll(
  definition: TeamDefinition,
  given: Readonly<Record<string, (PhaseEdit & { readonly origin?: string }) | undefined>>,
  artifacts: Blobs,
): Promise<Origin> {
  const gifts = new Map(Object.entries(given).filter(([, gift]) => gift !== undefined));
  if (gifts.size === 0) return {};
  const order = orderPhases(definition);
  for (const name of gifts.keys()) if (!order.includes(name)) throw unknownPhase(name, order);
  const byName = new Map(definition.phases.map((phase) => [phase.name, phase]));
  // The session that would be if nobody had worked: a phase that is not given hands on what it finds.
  const session = { state: emptyState(newSessionId()) };
  const trees = new SessionTrees(artifacts, definition, session, new Readings(definition, session));
  const phases: GivenPhase[] = [];
  const kept: string[] = [];
  for (const name of order) {
    const phase = byName.get(name);
    if (phase === undefined) continue;
    const { tree: base, artifacts: merged } = await trees.before(phase);
    session.state = withPhase(session.state, name, { base, tree: base });
    const gift = gifts.get(name);
    if (gift === undefined) continue;
    const { content, artifacts: stored } = await givePhase(phase, gift, await trees.load(base), artifacts);
    session.state = withPhase(session.state, name, { tree: content.tree });
    phases.push({ ...content, ...(base !== undefined && { base }), origin: gift.origin ?? "given" });
    kept.push(...merged, ...stored);
  }
  return { given: phases, artifacts: kept };
}
