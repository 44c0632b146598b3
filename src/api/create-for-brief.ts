import { advise } from "../domain/advice.ts";
import { canonicalJson } from "../domain/canonical.ts";
import { SessionConflict } from "../domain/errors.ts";
import type { Json } from "../domain/json.ts";
import type { Direction, GivenPhase } from "../journal/journal.ts";
import { type CreatedSession, checkBrief, createSession, type FirstDriver } from "../run/create-session.ts";
import { giveAll } from "../run/given.ts";
import { toBudget } from "../run/spending.ts";
import { readState } from "../store/session-journal.ts";
import type { SessionRecord } from "../store/store.ts";
import type { Team } from "../team/define.ts";
import { recordedDefinition } from "../team/definition/recorded.ts";
import type { HiveParts } from "./api-parts.ts";
import { refuseImpossibleStart } from "./check-start.ts";
import type { CreateOptions, StartOptions } from "./options.ts";
import { checkIntegration } from "./refusals.ts";
import { teamForBrief } from "./session-team.ts";

/** A new session for the brief, with the part of the team that it needs; or the one that has its key. */
export async function createForBrief(
  team: Team,
  { given = {}, budget, ...brief }: CreateOptions,
  driver: FirstDriver,
  /** How far the caller will drive it, to refuse what is impossible before there is a session. */
  direction: Direction,
  parts: HiveParts,
): Promise<CreatedSession> {
  const { store, lost, artifacts } = parts;
  const { key, teamFile } = brief;
  checkBrief(brief.brief, key);
  const model = brief.model ?? parts.model;
  const known =
    key === undefined ? undefined : ((await store.findSession(key)) ?? (await lost.bringBackByKey(key)));
  const isKnown = known !== undefined && known.key === key;
  // A plan is made once.
  const planned = isKnown ? { team, decisions: [] } : await teamForBrief(team, brief.brief);
  if (!isKnown) refuseImpossibleStart(planned.team, direction, Object.keys(given));
  checkIntegration(planned.team, parts.onNotice);
  const origin = isKnown ? {} : await giveAll(planned.team.definition, given, artifacts);
  const created = await createSession(
    planned.team,
    {
      brief: brief.brief,
      ...(key !== undefined && { key }),
      ...(teamFile !== undefined && { teamFile }),
      ...(model !== undefined && { model }),
    },
    driver,
    { ...origin, decisions: planned.decisions, ...(budget !== undefined && { budget: toBudget(budget) }) },
    parts,
  );
  if (!created.isNew && Object.keys(given).length > 0) await refuseOtherGifts(created.session, given, parts);
  return created;
}

/** Other gifts under a key that is taken would be ignored. */
async function refuseOtherGifts(
  { id, key }: SessionRecord,
  given: NonNullable<StartOptions["given"]>,
  { store, artifacts }: Pick<HiveParts, "store" | "artifacts">,
): Promise<void> {
  const { begun } = await readState(store, id);
  const { given: wanted = [] } = await giveAll(recordedDefinition(begun.definition), given, artifacts);
  if (textOf(wanted) === textOf(begun.given ?? [])) return;
  throw new SessionConflict(`The key "${key}" belongs to session ${id}, which was given something else.`, {
    details: { key, session: id },
    advice: [
      advise("Use another key."),
      advise("Or edit what it was given", "fork", id, "--at", "<phase>", "--edit", "<phase>=<file>"),
    ],
  });
}

/** The origin of a gift does not matter. */
const textOf = (given: readonly GivenPhase[]): string =>
  canonicalJson(given.map((gift) => ({ ...gift, origin: "" })) as unknown as Json);
