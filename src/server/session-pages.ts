import type { Maestro } from "../api/open.ts";
import { microsToUsd } from "../domain/budget.ts";
import { SessionNotFound } from "../domain/errors.ts";
import { isoTime, isoTimeOrNull } from "../domain/iso-time.ts";
import type { SessionForecast, SessionView } from "../index.ts";
import { explainStop } from "../journal/explain-stop.ts";
import { gateFact } from "../journal/facts.ts";
import type { SessionState } from "../journal/session-state.ts";
import { putBackOfPhase } from "../journal/view.ts";
import type { SessionFeed } from "./feed/session-feed.ts";
import type { Review, SessionHeader, SessionPageView, SessionRow } from "./schemas/session.ts";
import type { SessionRows } from "./session-rows.ts";
import { budgetView } from "./views/budget.ts";
import { changedFiles } from "./views/changed-files.ts";
import { checkView } from "./views/check.ts";
import { decisionView } from "./views/decision.ts";
import { definitionOf, findPersona } from "./views/definition.ts";
import type { Listing } from "./views/listing.ts";
import { type PersonaContext, personaView } from "./views/persona-view.ts";
import { stopReport } from "./views/stop-report.ts";
import { withStoppedWork } from "./views/stopped-work.ts";

export interface SessionPagesParts {
  readonly maestro: Maestro;
  readonly rows: SessionRows;
  readonly limits: { readonly maxAttempts: number; readonly maxRounds: number };
}

/** One session in full: `show --json` with additions for the page. */
export class SessionPages {
  readonly #parts: SessionPagesParts;

  constructor(parts: SessionPagesParts) {
    this.#parts = parts;
  }

  async view(feed: SessionFeed, { withFiles = true } = {}): Promise<SessionPageView> {
    const { maestro, rows } = this.#parts;
    // A stream that starts here replays the changes that the list row may have missed.
    const entries = feed.head;
    const [listing] = await maestro.listed([feed.id]);
    // The state must not be older than the list row: a parked row beside a running state would be inconsistent.
    await feed.advance();
    const { state } = feed;
    const definition = definitionOf(state);
    const [shown, inside, outlook, statuses] = await Promise.all([
      maestro.describe(state, { withFiles }),
      maestro.usageInside(feed.id),
      maestro.outlook(state),
      maestro.budgetsOf(state),
    ]);
    const expectedOf = ({ level, name }: SessionView["budgets"][number]): number | null | undefined => {
      const status = statuses.find((known) => known.level === level && known.name === name);
      return status && outlook?.expected(status)?.microUsd;
    };
    const [row] = listing === undefined ? [] : await rows.rows([listing]);
    if (listing === undefined || row === undefined)
      throw new SessionNotFound(`Session ${feed.id} no longer exists.`, { details: { session: feed.id } });
    const { phases: _phases, phaseCount: _count, ...line } = row;
    const context: PersonaContext = {
      state,
      chronicle: feed.chronicle,
      present: await rows.present([listing]),
      held: listing.card.held,
      attemptCosts: inside.attempts,
      usageOf: (phase, persona) =>
        inside.places.find((place) => place.phase === phase && place.persona === persona)?.usage,
      limits: this.#parts.limits,
      maxAttemptsOf: (phase, persona) => findPersona(definition, phase, persona)?.maxAttempts ?? undefined,
    };
    const phaseCost = (phase: string): number | null => {
      const costs = inside.places.filter((place) => place.phase === phase).map(({ usage }) => usage.costUsd);
      return costs.reduce<number | null>(
        (sum, cost) => (sum === null || cost === null ? null : sum + cost),
        0,
      );
    };
    return withStoppedWork({
      ...shown,
      ...line,
      ...(await this.#header(feed, shown, listing, {
        entries,
        forecast: outlook?.forecast ?? null,
        abandoned: row.situation.kind === "running" && row.situation.driverDied,
      })),
      phases: shown.phases.map((phase) => ({
        ...phase,
        ...this.#phaseTimes(feed, phase.name),
        gate: phase.gate,
        checkpoint: checkpointView(feed, phase),
        costUsd: phaseCost(phase.name),
        concurrency: definition.parallel,
        personas: phase.personas.map((persona) =>
          personaView(phase.name, persona, phase.personas.length, context),
        ),
      })),
      budgets: shown.budgets.map((budget) => budgetView(budget, expectedOf(budget))),
      decisions: shown.decisions.map(decisionView),
    });
  }

  async #header(
    { state, chronicle }: SessionFeed,
    shown: SessionView,
    { epoch }: Listing,
    {
      entries,
      forecast,
      abandoned,
    }: {
      readonly entries: number;
      readonly forecast: SessionForecast | null;
      readonly abandoned: boolean;
    },
  ): Promise<Omit<SessionHeader, Exclude<keyof SessionRow, "brief">>> {
    const tickets = await Promise.all(shown.tickets.map((ticket) => this.#ticket(ticket)));
    const reserved = await this.#parts.maestro.reserved(state.id);
    return {
      brief: shown.brief,
      model: shown.model,
      ticket: tickets[0] ?? null,
      tickets,
      epoch,
      entries,
      // Reading verifies each row against the one before it.
      chainVerified: true,
      reservedUsd: reserved.microUsd === null ? null : microsToUsd(reserved.microUsd),
      restarts: chronicle.restarts.map(isoTime),
      teamFile: shown.teamFile,
      stop: stopReport(state),
      explanation: explainStop(shown, { abandoned }),
      waiting: shown.waiting,
      effects: shown.effects,
      review: await this.#review(state),
      forecast: rangeOf(forecast),
    };
  }

  /** The ticket with the time of its delivery, or of the request while it is pending. */
  async #ticket(ticket: SessionView["tickets"][number]): Promise<SessionHeader["tickets"][number]> {
    const found = await this.#parts.maestro.ticketRecord(ticket.fingerprint);
    const { delivery, ticket: asked } = found ?? {};
    return {
      ...ticket,
      at: isoTime(delivery?.kind === "delivered" ? delivery.at : (asked?.createdAt ?? 0)),
    };
  }

  #phaseTimes({ chronicle }: SessionFeed, name: string) {
    const trail = chronicle.phases.get(name);
    return { startedAt: isoTimeOrNull(trail?.startedAt), endedAt: isoTimeOrNull(trail?.endedAt) };
  }

  async #review(state: SessionState): Promise<Review | null> {
    const found = [...state.phases].find(([, phase]) => phase.review === "awaiting");
    if (found === undefined) return null;
    const [name, phase] = found;
    return {
      phase: name,
      revision: phase.revision,
      gate: gateFact(phase.gate),
      checks: phase.checks.flatMap(({ results }) => results.map(checkView)),
      files: await changedFiles(this.#parts.maestro, state.id, { before: phase.base, after: phase.tree }),
      putBack: putBackOfPhase(phase),
      results: [...phase.personas].flatMap(([persona, { result }]) =>
        result === undefined ? [] : [{ persona, summary: result.summary, outputs: result.outputs }],
      ),
    };
  }
}

/** Null if a part is unknown: a partial forecast would mislead. */
function rangeOf(forecast: SessionForecast | null): SessionHeader["forecast"] {
  const [low, high] = [forecast?.median.usd, forecast?.p90.usd];
  if (low == null || high == null || (forecast?.unknown.length ?? 0) > 0) return null;
  return { lowUsd: low, highUsd: high };
}

function checkpointView(
  { chronicle }: SessionFeed,
  { name, checkpoint }: SessionView["phases"][number],
): SessionPageView["phases"][number]["checkpoint"] {
  if (checkpoint === null) return null;
  // The list of checkpoints reads and verifies the file.
  const sealedAt = chronicle.phases.get(name)?.sealedAt ?? chronicle.phases.get(name)?.endedAt ?? 0;
  return { ...checkpoint, sealedAt: isoTime(sealedAt) };
}
