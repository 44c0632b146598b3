import type { BreakerRecord } from "../../domain/breaker.ts";
import { microsToUsd } from "../../domain/budget.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import { gateFact } from "../../journal/facts.ts";
import type { SessionCard } from "../../journal/session-card.ts";
import type { ParkReason } from "../../journal/standing.ts";
import type { Activity, Situation } from "../schemas/situation.ts";
import { heldView } from "./held.ts";
import type { Listing } from "./listing.ts";

/** What a card does not know. */
export interface Present {
  readonly now: number;
  readonly places: number;
  readonly inUse: number;
  /** How many are before it in the queue. */
  readonly aheadOf: (id: string) => number;
  readonly isAbandoned: (id: string) => boolean;
  readonly latestOf: (id: string) => { readonly persona: string; readonly activity: Activity } | undefined;
  readonly breakers: ReadonlyMap<string, BreakerRecord>;
  readonly filesChanged: (card: SessionCard) => number;
  /** Attempts a persona has before it asks for help, unless its team says otherwise. */
  readonly maxAttempts: number;
}

/** Where a session stands, as facts. */
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
      return { kind: "paused", after: card.lastPhase, how: howPaused(card) };
    case "parked":
      return parkedFor[reason ?? "help"](listing, present);
    case "completed":
      return completed(card);
    case "failed":
      return failed(card);
    case "canceled":
      return { kind: "canceled", after: card.lastPhase, checkpoints: card.checkpoints };
  }
}

const parkedFor: Readonly<Record<ParkReason, (listing: Listing, present: Present) => Situation>> = {
  review: ({ card }, present) => reviewed(card, present),
  help: ({ card }, present) => needsHelp(card, present),
  budget: ({ card }) => overBudget(card),
  breaker: (listing, present) => waitsForBreaker(listing, present),
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

function howPaused({ pauseSaid, direction }: SessionCard): Of<"paused">["how"] {
  if (pauseSaid) return "asked";
  if (direction.only) return "only";
  if (direction.until) return "until";
  return direction.pauseAfter ? "pause-after" : "interrupted";
}

function reviewed(card: SessionCard, { filesChanged }: Present): Of<"review"> {
  const next = card.phases.find(({ status }) => status === "pending");
  return {
    kind: "review",
    phase: card.review?.phase ?? card.lastPhase ?? "",
    gate: gateFact(card.review?.gate),
    filesChanged: filesChanged(card),
    next: next === undefined ? [] : [next.name],
  };
}

function needsHelp({ error, lastFailure }: SessionCard, { maxAttempts }: Present): Of<"help"> {
  const details = error?.details ?? {};
  const attempts = Number(details["attempts"] ?? 0);
  return {
    kind: "help",
    phase: String(details["phase"] ?? lastFailure?.phase ?? ""),
    persona: String(details["persona"] ?? lastFailure?.persona ?? ""),
    check: lastFailure?.check ?? null,
    message: String(details["message"] ?? error?.message ?? ""),
    personas: Number(details["personas"] ?? 1),
    attempts,
    // Who asks for help after attempts has used up all it had, whatever its team allowed.
    maxAttempts: attempts > 0 ? attempts : maxAttempts,
  };
}

function overBudget({ error, lastFailure }: SessionCard): Of<"budget"> {
  const { level = "session", name = "", unit = "usd", asked, used, limit } = error?.details ?? {};
  const isUsd = unit !== "tokens";
  const amount = (value: string | number | undefined): number =>
    isUsd ? microsToUsd(Number(value ?? 0)) : Number(value ?? 0);
  const whose = level === "phase" || level === "persona" ? `${level} ${name}` : String(level);
  return {
    kind: "budget",
    level: whose,
    unit: isUsd ? "usd" : "tokens",
    asked: amount(asked),
    used: amount(used),
    limit: amount(limit),
    phase: lastFailure?.phase ?? (level === "phase" ? String(name) : null),
    persona: lastFailure?.persona ?? (level === "persona" ? String(name) : null),
    attempt: null,
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

/** What a person may accept to go on all the same. */
const acceptable: readonly string[] = ["TEAM_CHANGED", "TEAM_INVALID", "GOVERNANCE_VIOLATION"];

function failed({ error, lastFailure, phases }: SessionCard): Of<"failed"> {
  const phase = lastFailure?.phase ?? phases.find(({ status }) => status === "running")?.name ?? null;
  return {
    kind: "failed",
    phase,
    message: error?.message ?? "",
    gate: gateFact(phases.find(({ name }) => name === phase)?.gate),
    acceptChanges: acceptable.includes(error?.code ?? ""),
  };
}
