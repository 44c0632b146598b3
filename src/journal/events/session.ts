import { isoTimeOrNull } from "../../domain/iso-time.ts";
import { hasFailed } from "../exhausted.ts";
import { limitOf, needsProgram, phasesFact, plannedPhases } from "../planned.ts";
import * as is from "../schema.ts";
import { type CardPhase, cardError, cardLimits, cut, type SessionCard } from "../session-card.ts";
import type { SessionState } from "../session-state.ts";
import {
  errorOf,
  type ParkReason,
  pausedBy,
  reasonOf,
  remains,
  ruleOf,
  type SessionStatus,
  type Standing,
  standing,
  wakeAtOf,
} from "../standing.ts";
import { grantRounds } from "../update.ts";
import {
  type ClaimCause,
  claimCause,
  type Direction,
  direction,
  journalHead,
  type SessionTerms,
  sessionTerms,
} from "../values.ts";
import { always, event, shorten } from "./define.ts";
import { deliveredEvent } from "./delivery.ts";
import { forked, unstarted } from "./fork.ts";
import { completeWith } from "./phase.ts";
import { signalReceived } from "./signal.ts";

/** Limit on the searched text of a brief. */
const searchedLength = 2_000;

export const sessionEvents = {
  "session.created": event({
    row: sessionTerms,
    card: (_, entry) => newCard(entry),
    searchText: ({ brief }) => cut(brief, searchedLength),
    reduce(state, entry, { seq, hash, at, transitions }) {
      const terms = { ...entry, kind: "session.created" } as const;
      const created = {
        ...state,
        created: terms,
        begun: terms,
        createdHead: { seq, hash, at, transitions },
        budgets: entry.budget === undefined ? state.budgets : new Map([["session", entry.budget]]),
      };
      // Content from outside exists from the start.
      return (entry.given ?? []).reduce<SessionState>(
        (given, phase) => completeWith(given, phase, { kind: "given", origin: phase.origin }, at),
        created,
      );
    },
    fact: ({ team, owner, brief, model = null, definition, given = [] }) => ({
      team,
      ...(owner !== undefined && { owner }),
      brief: shorten(brief),
      model,
      phases: phasesFact(definition),
      /** Phases whose output was supplied from outside. */
      given: given.map(({ phase }) => phase),
    }),
    logged: "sentence",
    sentence: ({ team, owner }) => `created for team ${team}${byPerson(owner)}`,
    isTransition: true,
    isQuiet: always,
  }),
  /** The earlier rows were restored from checkpoints, without their steps. */
  "session.restored": event({
    row: is.object({
      /** The end of the checkpoints. */
      head: journalHead,
      /** Every phase is completed and accepted. */
      completed: is.optional(is.literal(true)),
      /** They come from an export instead of this state directory: a person must trust it before it runs. */
      imported: is.optional(is.literal(true)),
    }),
    listed: (entry) => ({ standing: restoredStanding(entry) }),
    card: (card, { imported, completed }) => ({
      error: null,
      wakeAt: null,
      held: [],
      pausedBy: completed ? null : restored.by,
      isUntrusted: imported ?? card?.isUntrusted ?? false,
    }),
    reduce: (state, entry) => ({
      ...state,
      standing: restoredStanding(entry),
      restoredSeq: entry.head.seq,
      imported: entry.imported ? "untrusted" : state.imported,
    }),
    fact: ({ imported = false }) => ({ imported }),
    logged: "sentence",
    sentence: ({ imported }) => (imported ? "imported from an export" : "restored from its checkpoints"),
    mark: () => "restart",
    isTransition: true,
  }),
  /** A person has seen the demands of an imported session and allows it to run. */
  "session.trusted": event({
    row: is.object({
      /** The demands as the person saw them. */
      demands: is.list(is.text),
    }),
    card: () => ({ isUntrusted: false }),
    reduce: (state) => ({ ...state, imported: "trusted" }),
    fact: ({ demands }) => ({ demands: demands.length }),
    logged: "sentence",
    sentence: () => "trusted by a person",
    said: () => ({ action: "trust", text: "trusted the session" }),
    isTransition: true,
  }),
  "session.delivered": deliveredEvent,
  "signal.received": signalReceived,
  "session.forked": forked,
  "session.claimed": event({
    row: is.object({ cause: claimCause, owner: is.text }),
    listed: ({ cause }) => (cause === "signal" ? undefined : { standing: { status: "running" } }),
    card(card, { cause }) {
      if (cause === "signal") return undefined;
      return {
        ...(card && { phases: card.phases.map(runAgain) }),
        error: null,
        wakeAt: null,
        ...(cause === "resume" && {
          resumes: (card?.resumes ?? 0) + 1,
          stopping: card?.stopping === "cancel" ? "cancel" : null,
        }),
        pausedBy: null,
      };
    },
    reduce: (state, { cause }, { at }) => claim(state, cause, at),
    fact: ({ cause }, { epoch }) => ({ cause, epoch }),
    logged: "sentence",
    sentence: ({ cause, epoch }) => `${claims[cause]}, lease epoch ${epoch}`,
    mark: ({ cause }) => (cause === "recovery" ? "restart" : null),
    beginsDrive: true,
    isTransition: true,
    isQuiet: ({ cause }) => cause !== "recovery",
  }),
  /** How far to go, until a person changes it. It survives a crash. */
  "session.directed": event({
    row: direction,
    card: (_, { only, until, pauseAfter = [] }) => ({
      direction: {
        only: only !== undefined,
        until: until !== undefined,
        pauseAfter: pauseAfter.length > 0,
      },
    }),
    reduce(state, entry) {
      const { kind: _, ...directed } = entry;
      return { ...state, direction: directed };
    },
    fact: ({ only = null, from = null, until = null, pauseAfter = null }) => ({
      only,
      from,
      until,
      pauseAfter,
    }),
    logged: "sentence",
    sentence: (directed) => `directed ${directionText(directed)}`,
    isTransition: true,
    isQuiet: always,
  }),
  "session.status": event({
    /** `tickets`: fingerprints of the requests for help raised with it. */
    row: is.extend(standing, { tickets: is.optional(is.list(is.label)) }),
    listed: (entry) => ({ standing: standingOf(entry) }),
    card: (card, entry) => ({
      error: "error" in entry ? cardError(entry.error) : null,
      wakeAt: wakeAtOf(entry) ?? null,
      pausedBy: pausedBy(entry) ?? null,
      ...(entry.status !== "running" && { held: [], stopping: null, ...(card && failedPhases(card, entry)) }),
    }),
    reduce(state, entry) {
      const stands = standingOf(entry);
      // Signals that arrived meanwhile still apply.
      if (stands.status === "running") return { ...state, standing: stands };
      return {
        ...state,
        standing: stands,
        stoodFor: undefined,
        tickets: entry.tickets ?? (endsRequests(stands) ? [] : state.tickets),
        signals: [],
        awaitsPerson: state.awaitsPerson || needsPerson(stands),
      };
    },
    fact(entry) {
      const error = errorOf(entry);
      return {
        status: entry.status,
        reason: reasonOf(entry) ?? null,
        message: error === undefined ? null : shorten(error.message),
        wakeAt: isoTimeOrNull(wakeAtOf(entry)),
        ...("person" in entry && entry.person !== undefined && { person: entry.person }),
      };
    },
    logged: (fact) => (fact.status === "running" ? "waits without a driver" : stopOf(fact)),
    sentence: (fact) =>
      fact.status === "running"
        ? "waits without a driver"
        : `${stopOf(fact)}${fact.message === null ? "" : `: ${fact.message}`}`,
    mark: ({ status }) => (status === "running" ? "waits" : status),
    endsDrive: true,
    isTransition: true,
    isQuiet: always,
  }),
};

/** A person who looks at this standing needs no ticket about an earlier one. */
const endsRequests = ({ status }: Standing): boolean => status === "parked" || status === "completed";

interface Stop {
  readonly status: SessionStatus;
  readonly reason: ParkReason | null;
  readonly person?: string;
}

const stopOf = ({ status, reason, person }: Stop): string =>
  `${status}${reason === null ? "" : ` for ${reason}`}${byPerson(person)}`;

const byPerson = (person: string | undefined): string => (person === undefined ? "" : ` by ${person}`);

const restored = { status: "paused", by: "restore" } as const;

const restoredStanding = ({ completed }: { readonly completed?: true }): Standing =>
  completed ? { status: "completed" } : restored;

function standingOf(
  entry: Standing & { readonly kind: string; readonly tickets?: readonly string[] },
): Standing {
  const { kind: _, tickets: __, ...stands } = entry;
  return stands;
}

/** The next resume grants new rounds. */
const needsPerson = (stands: Standing): boolean =>
  stands.status === "failed" || (stands.status === "parked" && ruleOf(stands.reason).grantsRounds === true);

function failedPhases(
  { phases, exhausted }: SessionCard,
  stands: Standing,
): Pick<SessionCard, "phases" | "exhausted"> {
  const isFailed = ({ name, status }: CardPhase): boolean =>
    status === "running" &&
    hasFailed(
      exhausted.flatMap(({ phase, next }) => (phase === name ? [next] : [])),
      stands.status,
    );
  return {
    phases: phases.map((phase) => (isFailed(phase) ? { ...phase, status: "failed" } : phase)),
    exhausted: needsPerson(stands) ? [] : exhausted,
  };
}

const runAgain = (phase: CardPhase): CardPhase =>
  phase.status === "failed" ? { ...phase, status: "running" } : phase;

function claim(state: SessionState, cause: ClaimCause, at: number): SessionState {
  const { standing: before } = state;
  // A claim for a signal changes nothing, and a cancel is final.
  if (cause === "signal" || before.status === "canceled") return state;
  const stoodFor = remains(before) ? { reason: before.reason, error: before.error } : state.stoodFor;
  const isFresh = cause === "resume" || !state.awaitsPerson;
  const claimed: SessionState = {
    ...state,
    stoodFor,
    standing: { status: "running" },
    restedMs: state.restedMs + restOf(before, at),
    recoveries:
      cause === "recovery" ? state.recoveries + 1 : isFresh && cause !== "wake" ? 0 : state.recoveries,
  };
  if (cause !== "resume") return claimed;
  return {
    ...(state.awaitsPerson ? grantRounds(claimed) : claimed),
    awaitsPerson: false,
    resumes: state.resumes + 1,
    // A resume revokes a pause, never a cancel.
    signals: state.signals.filter(({ action }) => action === "cancel"),
  };
}

/** If the clock was set back since, the time of the rest is unknown. */
const restOf = (before: Standing, at: number): number =>
  "restsSince" in before ? Math.max(0, Math.min(at, before.wakeAt) - before.restsSince) : 0;

const claims: Readonly<Record<ClaimCause, string>> = {
  start: "started",
  resume: "resumed",
  wake: "woken after its wait",
  recovery: "taken over from a process that died",
  signal: "claimed to act on a signal",
};

function directionText({
  only,
  from,
  until,
  pauseAfter,
}: {
  readonly [Name in keyof Required<Direction>]: Required<Direction>[Name] | null;
}): string {
  const parts = [
    only === null ? "" : `to run only ${only.join(", ")}`,
    from === null ? "" : `to run from ${from}`,
    until === null ? "" : `to stop after ${until}`,
    pauseAfter === null ? "" : `to pause after ${pauseAfter.join(", ")}`,
  ].filter((part) => part !== "");
  return parts.length === 0 ? "to run to the end" : parts.join(", ");
}

function newCard(created: SessionTerms): SessionCard {
  const { brief, owner = null, model, fork, definition, given = [] } = created;
  const planned = plannedPhases(definition);
  const done = new Set(given.map(({ phase }) => phase));
  return {
    ...unstarted,
    brief: cut(brief, cardLimits.textLength),
    owner,
    model: model ?? null,
    fork: fork === undefined ? null : { session: fork.session, at: fork.at },
    phases: planned
      .slice(0, cardLimits.phases)
      .map(({ name }) => ({ name, status: done.has(name) ? "completed" : "pending" })),
    phaseCount: planned.length,
    needsProgram: needsProgram(created),
    lastPhase: given.at(-1)?.phase ?? null,
    limit: limitOf(definition),
    raised: created.budget ?? {},
  };
}
