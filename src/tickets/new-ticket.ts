import { newId } from "../domain/ids.ts";
import {
  problemLabel,
  type Ticket,
  type TicketFailure,
  type TicketOutage,
  type TicketSpend,
  ticketFingerprint,
} from "../domain/ticket.ts";
import { cut, oneLine, plainEntry, plainText } from "./plain-text.ts";

export interface TicketRequest {
  readonly sessionId: string;
  readonly team: string;
  readonly phase: string;
  readonly persona: string;
  readonly category: string;
  /** Why it stopped, in one sentence. With the names above it identifies the problem. */
  readonly message: string;
  readonly attempts: number;
  readonly failures: readonly TicketFailure[];
  readonly details?: string;
  readonly context?: Readonly<Record<string, string>>;
  readonly suggestedActions: readonly string[];
  readonly resumeCommand: string;
  readonly spent?: TicketSpend;
  readonly outage?: TicketOutage;
}

export const ticketLimits = {
  summary: 255,
  failures: 40,
  failure: 1000,
  details: 10_000,
  contextEntries: 40,
  context: 300,
  actions: 10,
  action: 300,
  command: 500,
  body: 30_000,
} as const;

/** Every ticket is built here, without secrets and of bounded size. */
export function newTicket(request: TicketRequest, now: number): Ticket {
  const { team, phase, persona, sessionId, attempts, spent, outage } = request;
  const message = oneLine(request.message) || "no reason was given";
  const category = cut(oneLine(request.category), 60);
  const problem = problemLabel({ team, phase, persona, category, message });
  // A dependency that recovered and failed again gets a new ticket.
  const occasion = outage === undefined ? sessionId : String(outage.since);
  const subject =
    outage === undefined ? `${persona} needs help in ${phase} of ${team}: ` : "Sessions wait for a service: ";
  return {
    id: newId(now),
    fingerprint: ticketFingerprint(problem, occasion),
    problem,
    sessionId,
    team,
    phase,
    persona,
    category,
    summary: cut(`${subject}${message}`, ticketLimits.summary),
    attempts,
    failures: newest(request.failures, ticketLimits.failures).map(boundFailure),
    details: cut(plainText(request.details ?? "").trim(), ticketLimits.details),
    context: Object.fromEntries(
      Object.entries(request.context ?? {})
        .slice(0, ticketLimits.contextEntries)
        .map(([name, value]) => plainEntry(name, value))
        .map(([name, value]) => [cut(name, 60), cut(value, ticketLimits.context)]),
    ),
    suggestedActions: request.suggestedActions
      .slice(0, ticketLimits.actions)
      .map((action) => cut(oneLine(action), ticketLimits.action)),
    resumeCommand: cut(oneLine(request.resumeCommand), ticketLimits.command),
    createdAt: now,
    ...(spent !== undefined && { spent }),
    ...(outage !== undefined && { outage }),
  };
}

/** Keep the first failure, which shows how it began, and the last ones, which show how it ended. */
const newest = <T>(list: readonly T[], most: number): readonly T[] =>
  list.length <= most ? list : [...list.slice(0, 1), ...list.slice(1 - most)];

const boundFailure = ({ round, attempt, message, category }: TicketFailure): TicketFailure => ({
  round,
  attempt,
  message: cut(plainText(message).trim(), ticketLimits.failure),
  ...(category !== undefined && { category: cut(oneLine(category), 60) }),
});
