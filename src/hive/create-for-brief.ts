import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { Direction, GivenPhase } from "../domain/journal.ts";
import type { Json } from "../domain/json.ts";
import { readState } from "../state/session-journal.ts";
import type { SessionRecord } from "../state/store.ts";
import { checkBrief, createSession } from "../team/create-session.ts";
import type { Team } from "../team/define.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import { giveAll } from "../team/given.ts";
import { toBudget } from "../team/spending.ts";
import { refuseImpossibleStart } from "./check-start.ts";
import type { HiveParts } from "./hive-parts.ts";
import type { CreateOptions, StartOptions } from "./options.ts";
import { checkIntegration } from "./refusals.ts";
import { teamForBrief } from "./session-team.ts";

export interface CreateIntent {
  /** Whoever creates it claims it at once; killed before that, it is taken up by whoever recovers. */
  readonly drivenSoon: boolean;
  /** How far the creator will go. */
  readonly direction?: Direction;
}

/** A new session for the brief, with the part of the team that it needs; or the one that has its key. */
export async function createForBrief(
  team: Team,
  { given = {}, budget, ...brief }: CreateOptions,
  { drivenSoon, direction = {} }: CreateIntent,
  parts: HiveParts,
): Promise<SessionRecord> {
  const { store, lost, artifacts } = parts;
  const { key, teamFile } = brief;
  checkBrief(brief.brief, key);
  const model = brief.model ?? parts.model;
  const known =
    key === undefined ? undefined : ((await store.findSession(key)) ?? (await lost.bringBackByKey(key)));
  const isKnown = known !== undefined && known.key === key;
  // What was planned once is not planned again.
  const planned = isKnown ? { team, decisions: [] } : await teamForBrief(team, brief.brief);
  if (!isKnown) refuseImpossibleStart(planned.team, direction, Object.keys(given));
  checkIntegration(planned.team, parts.onNotice);
  const origin = isKnown ? {} : await giveAll(planned.team.definition, given, artifacts);
  const session = await createSession(
    planned.team,
    {
      brief: brief.brief,
      ...(key !== undefined && { key }),
      ...(teamFile !== undefined && { teamFile }),
      ...(model !== undefined && { model }),
    },
    { drivenSoon },
    { ...origin, decisions: planned.decisions, ...(budget !== undefined && { budget: toBudget(budget) }) },
    parts,
  );
  if (key !== undefined && Object.keys(given).length > 0) await refuseOtherGifts(session, given, parts);
  return session;
}

/** Who brings something else under a key that is taken would find it ignored. */
async function refuseOtherGifts(
  { id, key }: SessionRecord,
  given: NonNullable<StartOptions["given"]>,
  { store, artifacts }: Pick<HiveParts, "store" | "artifacts">,
): Promise<void> {
  const { begun } = await readState(store, id);
  const { given: wanted = [] } = await giveAll(recordedDefinition(begun.definition), given, artifacts);
  if (sayingOf(wanted) === sayingOf(begun.given ?? [])) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which was given something else.`, {
    details: { key, session: id },
    advice: `Use another key, or edit what it was given: maestro fork ${id} --at <phase> --edit <phase>=<file>`,
  });
}

/** Where it comes from does not matter. */
const sayingOf = (given: readonly GivenPhase[]): string =>
  canonicalJson(given.map((gift) => ({ ...gift, origin: "" })) as unknown as Json);
