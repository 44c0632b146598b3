import type { BreakerRecord } from "../../domain/breaker.ts";
import { budgetLevels, microsToUsd } from "../../domain/budget.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import type { SessionCard } from "../../journal/session-card.ts";
import type { ParkReason } from "../../journal/standing.ts";
import type { Activity, Situation } from "../schemas/situation.ts";
import { heldView } from "./held.ts";
import type { Listing } from "./listing.ts";

/** Facts that a session's card does not have. */
export interface Present {
  readonly now: number;
  readonly places: number;
  readonly inUse: number;
  /** The number of sessions before it in the queue. */
  readonly aheadOf: (id: string) => number;
  readonly isAbandoned: (id: string) => boolean;
  readonly latestOf: (id: string) => { readonly persona: string; readonly activity: Activity } | undefined;
  readonly breakers: ReadonlyMap<string, BreakerRecord>;
  readonly filesChanged: (card: SessionCard) => number;
}

export function situationOf(listing: Listing, present: Present): Situation {
  const { id, status, reason, card } = listing;
  switch (status) {
    case "queued":
      return {
        kind: "queued",
        ahead: present.aheadOf(id),
        places: present.places,
        inUse: present.inUse,
      };
    case "running":
      return running(listing, present);
    case "paused":
      return { kind: "paused" };
    case "parked":
      return parkedFor[reason ?? "help"](listing, present);
    case "completed":
      return completed(card);
    case "failed":
      return failed(card);
    case "canceled":
      return { kind: "canceled" };
  }
}

const parkedFor: Readonly<Record<ParkReason, (listing: Listing, present: Present) => Situation>> = {
  review: ({ card }, present) => reviewed(card, present),
  help: ({ card }) => needsHelp(card),
  unknown: ({ card }) => hasUnknownEffect(card),
  budget: ({ card }) => overBudget(card),
  breaker: (listing, present) => waitsForBreaker(listing, present),
  setup: () => ({ kind: "setup" }),
};

type Of<Kind extends Situation["kind"]> = Extract<Situation, { readonly kind: Kind }>;

function running({ id, card }: Listing, present: Present): Of<"running"> {
  const held = card.held.flatMap((hold) => {
    const view = heldView(hold, present.breakers, present.now);
    return view === null ? [] : [{ persona: hold.persona, held: view }];
  });
  const latest = present.latestOf(id);
  const isHeld = held.some(({ persona }) => persona === latest?.persona);
  return {
    kind: "running",
    phases: card.phases.filter(({ status }) => status === "running").map(({ name }) => name),
    latest: latest === undefined || isHeld ? null : latest,
    held,
    driverDied: present.isAbandoned(id),
  };
}

function reviewed(card: SessionCard, { filesChanged }: Present): Of<"review"> {
  const next = card.phases.find(({ status }) => status === "pending");
  return {
    kind: "review",
    phase: card.review?.phase ?? card.calls[0]?.phase ?? card.lastPhase ?? "",
    filesChanged: filesChanged(card),
    next: next === undefined ? [] : [next.name],
    calls: card.calls.map(({ asks: kind, ...call }) => ({ kind, ...call })),
  };
}

function needsHelp({ error, lastFailure }: SessionCard): Of<"help"> {
  const details = error?.details ?? {};
  return {
    kind: "help",
    phase: String(details["phase"] ?? lastFailure?.phase ?? ""),
    persona: String(details["persona"] ?? lastFailure?.persona ?? ""),
    personas: Number(details["personas"] ?? 1),
  };
}

function hasUnknownEffect({ error, lastFailure }: SessionCard): Of<"unknown"> {
  const { phase, persona, effect, step, effects = 1 } = error?.details ?? {};
  return {
    kind: "unknown",
    phase: String(phase ?? lastFailure?.phase ?? ""),
    persona: String(persona ?? lastFailure?.persona ?? ""),
    effect: String(effect ?? ""),
    seq: Number(step ?? 0),
    effects: Number(effects),
  };
}

function overBudget({ error, lastFailure }: SessionCard): Of<"budget"> {
  const { level = "session", name = "", unit = "usd", asked, used, limit } = error?.details ?? {};
  const isUsd = unit !== "tokens";
  const amount = (value: string | number | undefined): number =>
    isUsd ? microsToUsd(Number(value ?? 0)) : Number(value ?? 0);
  return {
    kind: "budget",
    level: budgetLevels.find((known) => known === level) ?? "session",
    unit: isUsd ? "usd" : "tokens",
    asked: amount(asked),
    used: amount(used),
    limit: amount(limit),
    phase: lastFailure?.phase ?? (level === "phase" ? String(name) : null),
    persona: lastFailure?.persona ?? (level === "persona" ? String(name) : null),
  };
}

function waitsForBreaker({ card, statusAt }: Listing, { breakers }: Present): Of<"breaker"> {
  const dependency = String(card.error?.details["dependency"] ?? "");
  const state = breakers.get(dependency)?.state;
  const isOpen = state !== undefined && state.kind !== "closed";
  return {
    kind: "breaker",
    dependency,
    openedAt: isoTime(isOpen ? state.openedAt : statusAt),
    failedProbes: isOpen ? state.failedProbes : 0,
    wakeAt: isoTimeOrNull(card.wakeAt),
  };
}

function completed({ phases, resumes }: SessionCard): Of<"completed"> {
  const judged = phases.filter(({ gate }) => gate?.threshold !== undefined);
  return {
    kind: "completed",
    gates: judged.length,
    gatesPassed: judged.filter(({ gate }) => gate?.verdict === "passed").length,
    unverified: phases
      .filter(({ gate }) => gate === undefined || gate.verdict === "unverified")
      .map(({ name }) => name),
    resumes,
  };
}

/** Errors after which a person may accept the change and resume. */
const acceptable: readonly string[] = ["TEAM_CHANGED", "TEAM_INVALID"];

function failed({ error, lastFailure, phases }: SessionCard): Of<"failed"> {
  const phase = lastFailure?.phase ?? phases.find(({ status }) => status === "running")?.name ?? null;
  return {
    kind: "failed",
    phase,
    acceptChanges: acceptable.includes(error?.code ?? ""),
  };
}
