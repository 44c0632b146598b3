import { type Budget, changedBudget, microsToUsd } from "../../domain/budget.ts";
import { isoTime } from "../../domain/iso-time.ts";
import { isAllSimulated } from "../../domain/simulated.ts";
import { stopHeadline } from "../../journal/stop-headline.ts";
import type { SessionRow } from "../schemas/session.ts";
import type { Listing } from "./listing.ts";
import { type Present, situationOf } from "./situation.ts";
import { usageView } from "./usage.ts";

export function sessionRow(
  listing: Listing,
  present: Present,
  keyOf: (id: string) => string | null,
): SessionRow {
  const { id, key, team, status, reason, createdAt, updatedAt, statusAt, card, usage } = listing;
  return {
    id,
    key: key ?? null,
    team,
    status,
    reason: reason ?? null,
    createdAt: isoTime(createdAt),
    updatedAt: isoTime(updatedAt),
    usage: usageView(usage),
    brief: card.brief,
    owner: card.owner,
    simulated: isAllSimulated(usage, card.model),
    since: isoTime(statusAt),
    headline: stopHeadline(listing, { abandoned: present.isAbandoned(id) }),
    situation: situationOf(listing, present),
    phases: card.phases.map(({ name, status }) => ({ name, status })),
    phaseCount: card.phaseCount,
    ...limits(changedBudget(card.limit, card.raised)),
    forkOf:
      card.fork === null ? null : { id: card.fork.session, key: keyOf(card.fork.session), at: card.fork.at },
  };
}

/** The dollar limit, or the token limit if there is none. */
function limits({ microUsd, tokens }: Budget): Pick<SessionRow, "limitUsd" | "limitTokens"> {
  return {
    limitUsd: microUsd === undefined ? null : microsToUsd(microUsd),
    limitTokens: microUsd === undefined ? (tokens ?? null) : null,
  };
}
