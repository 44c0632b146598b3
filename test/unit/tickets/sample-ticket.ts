import { newTicket, type TicketRequest } from "../../../src/tickets/new-ticket.ts";

export const sampleRequest: TicketRequest = {
  sessionId: "01k0g2t5c8r7w9x3y4z5a6b7c8",
  team: "product",
  phase: "design",
  persona: "architect",
  category: "CONTRACT",
  message: "docs/design.md is missing",
  attempts: 6,
  failures: [
    { round: 1, attempt: 1, message: "docs/design.md is missing", category: "CONTRACT" },
    { round: 2, attempt: 3, message: "docs/design.md has no title", category: "CONTRACT" },
  ],
  details: "expected docs/design.md\nfound docs/desing.md",
  context: { model: "anthropic/claude-sonnet-4-5" },
  suggestedActions: ["Read the failures", "Correct the contract or the instructions"],
  resumeCommand: "maestro resume 01k0g2t5c8r7w9x3y4z5a6b7c8",
  spent: { tokens: 41_000, microUsd: 312_500 },
};

export const sampleTicket = (changed: Partial<TicketRequest> = {}) =>
  newTicket({ ...sampleRequest, ...changed }, Date.UTC(2026, 0, 1));

/** Never aborts. */
export const patience = new AbortController().signal;
