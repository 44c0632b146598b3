import type { RecordedRow, Transition } from "./journal.ts";
import { decodeTransition } from "./journal-codec.ts";
import type { Message } from "./message.ts";
import { plannedPhases } from "./planned.ts";
import {
  type CardHold,
  type CardPhase,
  cardError,
  cardLimits,
  cut,
  type SessionCard,
} from "./session-card.ts";

type Row = Pick<RecordedRow, "kind" | "body" | "attempt">;

/** Rows of these kinds leave a card as it is; nobody has to read them. */
const silentKinds: ReadonlySet<string> = new Set([
  "decision.recorded",
  "group.merged",
  "persona.inherited",
  "persona.reused",
  "fork.copied",
  "attempt.diverged",
]);

/** The card after one more row. Undefined: this row cannot be understood without the rows before it. */
export function applyToCard(card: SessionCard | undefined, row: Row): SessionCard | undefined {
  if (row.attempt !== null || silentKinds.has(row.kind)) return card;
  // Results can be large; who held nobody up has nothing to let go.
  if (row.kind === "attempt.completed" && card?.held.length === 0) return card;
  const entry = decodeTransition(row as RecordedRow);
  if (entry.kind === "session.created") return newCard(entry);
  return card === undefined ? undefined : { ...card, ...changeOf(card, entry) };
}

function newCard(created: Extract<Transition, { kind: "session.created" }>): SessionCard {
  const { brief, model, fork, definition, given = [] } = created;
  const planned = plannedPhases(definition);
  const done = new Set(given.map(({ phase }) => phase));
  return {
    brief: cut(brief, cardLimits.textLength),
    model: model ?? null,
    fork: fork === undefined ? null : { session: fork.session, at: fork.at },
    phases: planned
      .slice(0, cardLimits.phases)
      .map(({ name }) => ({ name, status: done.has(name) ? "completed" : "pending" })),
    phaseCount: planned.length,
    lastPhase: given.at(-1)?.phase ?? null,
    checkpoints: 0,
    resumes: 0,
    direction: { only: false, until: false, pauseAfter: false },
    pauseSaid: false,
    review: null,
    error: null,
    wakeAt: null,
    held: [],
    lastFailure: null,
    limit: limitOf(definition),
    raised: {},
  };
}

function changeOf(card: SessionCard, entry: Transition): Partial<SessionCard> {
  switch (entry.kind) {
    case "session.claimed":
      if (entry.cause === "message") return {};
      return {
        error: null,
        wakeAt: null,
        ...(entry.cause === "resume" && { resumes: card.resumes + 1 }),
        ...(entry.cause !== "recovery" && { pauseSaid: false }),
      };
    case "session.directed":
      return {
        direction: {
          only: entry.only !== undefined,
          until: entry.until !== undefined,
          pauseAfter: (entry.pauseAfter ?? []).length > 0,
        },
      };
    case "session.status":
      return {
        error: entry.error === undefined ? null : cardError(entry.error),
        wakeAt: entry.wakeAt ?? null,
        held: [],
      };
    case "message.received":
      return afterMessage(card, entry.message);
    case "team.changed":
      return afterTeamChange(card, entry);
    case "phase.started":
      return {
        phases: withPhase(card, entry.phase, {
          status: "running",
          ...(entry.tree !== undefined && { base: entry.tree }),
        }),
        review: card.review?.phase === entry.phase ? null : card.review,
      };
    case "phase.completed":
      return afterPhase(card, entry);
    case "phase.edited":
      return {
        phases: withPhase(card, entry.phase, { status: "completed" }),
        lastPhase: entry.phase,
        review: card.review?.phase === entry.phase ? null : card.review,
      };
    case "phase.inherited":
      return { phases: withPhase(card, entry.phase, { status: "reused" }), lastPhase: entry.phase };
    case "checkpoint.sealed":
      return { checkpoints: card.checkpoints + 1 };
    case "attempt.started":
      return {
        phases: withPhase(card, entry.phase, { status: "running", worked: true }),
        held: without(card, entry),
      };
    case "attempt.completed":
      return { held: without(card, entry) };
    case "attempt.failed":
    case "attempt.reopened":
      return afterFailure(card, entry);
    case "dependency.waiting": {
      const { dependency, phase, persona, until } = entry;
      const hold: CardHold = { phase, persona, until, why: { kind: "dependency", dependency } };
      return { held: [...without(card, entry), hold].slice(-cardLimits.held) };
    }
    case "session.created":
    case "session.restored":
    case "decision.recorded":
    case "group.merged":
    case "persona.inherited":
    case "persona.reused":
    case "fork.copied":
    case "attempt.diverged":
    case "budget.alerted":
      return {};
  }
}

function afterMessage(card: SessionCard, message: Message): Partial<SessionCard> {
  switch (message.say) {
    case "pause":
      return { pauseSaid: true };
    case "approve":
      return answered(card, message.phase);
    case "reject": {
      const phase = message.phase ?? card.review?.phase;
      if (phase === undefined) return {};
      return { ...answered(card, phase), phases: withPhase(card, phase, { status: "pending" }) };
    }
    case "budget":
      return message.level === "session" ? { raised: { ...card.raised, ...message.budget } } : {};
    case "cancel":
      return {};
  }
}

/** A card knows one phase that waits; another one's answer leaves it waiting. */
const answered = ({ review }: SessionCard, phase = review?.phase): Partial<SessionCard> =>
  review?.phase === phase ? { review: null } : {};

function afterTeamChange(
  card: SessionCard,
  { definition, reset }: Extract<Transition, { kind: "team.changed" }>,
): Partial<SessionCard> {
  const planned = plannedPhases(definition);
  const known = new Map(card.phases.map((phase) => [phase.name, phase]));
  return {
    phases: planned.slice(0, cardLimits.phases).map(({ name }): CardPhase => {
      const phase = known.get(name);
      return phase === undefined || reset.includes(name) ? { name, status: "pending" } : phase;
    }),
    phaseCount: planned.length,
    limit: limitOf(definition),
  };
}

function afterPhase(
  card: SessionCard,
  { phase, gate, tree, awaitsReview }: Extract<Transition, { kind: "phase.completed" }>,
): Partial<SessionCard> {
  const { worked, base } = card.phases.find(({ name }) => name === phase) ?? {};
  const status = worked === undefined ? "reused" : "completed";
  return {
    phases: withPhase(card, phase, { status, ...(gate !== undefined && { gate }) }),
    lastPhase: phase,
    ...(awaitsReview === true && {
      review: {
        phase,
        ...(gate !== undefined && { gate }),
        ...(base !== undefined && { base }),
        ...(tree !== undefined && { tree }),
      },
    }),
  };
}

function afterFailure(
  card: SessionCard,
  entry: Extract<Transition, { kind: "attempt.failed" | "attempt.reopened" }>,
): Partial<SessionCard> {
  const { phase, persona, failure, next } = entry;
  const checks = entry.kind === "attempt.failed" ? entry.checks : undefined;
  const check = checks?.find(({ must, status }) => must && status !== "passed")?.name ?? null;
  const lastFailure = { phase, persona, check: check === null ? null : cut(check, cardLimits.textLength) };
  if (!("wait" in next)) return { lastFailure, held: without(card, entry) };
  const hold: CardHold = {
    phase,
    persona,
    until: next.wait.notBefore,
    why: { kind: "retry", because: cut(failure.message, cardLimits.textLength) },
  };
  return { lastFailure, held: [...without(card, entry), hold].slice(-cardLimits.held) };
}

function withPhase(card: SessionCard, name: string, change: Partial<CardPhase>): readonly CardPhase[] {
  return card.phases.map((phase) => (phase.name === name ? { ...phase, ...change } : phase));
}

function without(
  { held }: SessionCard,
  { phase, persona }: { readonly phase: string; readonly persona: string },
): readonly CardHold[] {
  return held.filter((hold) => hold.phase !== phase || hold.persona !== persona);
}

function limitOf(definition: unknown): SessionCard["limit"] {
  const { budget } = (definition ?? {}) as { budget?: { tokens?: number; usd?: number } | null };
  return {
    ...(budget?.tokens !== undefined && { tokens: budget.tokens }),
    ...(budget?.usd !== undefined && { microUsd: Math.round(budget.usd * 1_000_000) }),
  };
}
