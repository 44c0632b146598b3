import type { Ticket } from "../domain/ticket.ts";
import { plainEntry, plainText } from "./plain-text.ts";

/**
 * The ticket as a sink may send it: redacted again, and without the sink's own credentials, which may not look like
 * a known kind of key.
 */
export function hideSecrets(ticket: Ticket, secrets: readonly string[] = []): Ticket {
  const hide = (text: string): string => plainText(text, secrets);
  return {
    ...ticket,
    team: hide(ticket.team),
    phase: hide(ticket.phase),
    persona: hide(ticket.persona),
    category: hide(ticket.category),
    summary: hide(ticket.summary),
    failures: ticket.failures.map(({ message, category, ...rest }) => ({
      ...rest,
      message: hide(message),
      ...(category !== undefined && { category: hide(category) }),
    })),
    details: hide(ticket.details),
    context: Object.fromEntries(
      Object.entries(ticket.context).map(([name, value]) => plainEntry(hide(name), hide(value))),
    ),
    suggestedActions: ticket.suggestedActions.map(hide),
    resumeCommand: hide(ticket.resumeCommand),
  };
}
