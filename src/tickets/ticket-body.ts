import type { Ticket, TicketOutage, TicketSpend } from "../domain/ticket.ts";
import { cut } from "./plain-text.ts";

/** `code` is shown as it is; everything else is a sentence. */
export type Block =
  | { readonly kind: "heading" | "paragraph" | "code"; readonly text: string }
  | { readonly kind: "steps"; readonly items: readonly string[] };

/** Leaves room in the 30,000 characters for what escaping adds to the sentences; code is never escaped. */
const codeLimit = 20_000;

/** The questions of the person on call, in their order; then the evidence, which may be cut. */
export function ticketBody(ticket: Ticket): readonly Block[] {
  const { outage } = ticket;
  return boundCode([
    heading("Is anything lost?"),
    paragraph("No. Every finished step is recorded; a resume reuses it and does not pay for it again."),
    ...(outage === undefined ? aboutSession(ticket) : aboutOutage(ticket, outage)),
    ...(ticket.details === "" ? [] : [heading("Details"), code(ticket.details)]),
    heading("Context"),
    code(contextLines(ticket).join("\n")),
  ]);
}

function aboutSession(ticket: Ticket): readonly Block[] {
  const { phase, persona, team, failures } = ticket;
  const last = failures.at(-1);
  const attempts = ticket.attempts === 1 ? "1 attempt" : `${ticket.attempts} attempts`;
  return [
    heading("What does it cost now?"),
    paragraph(`Nothing: the session waits. ${spentSoFar(ticket.spent)}`.trim()),
    heading("Why did it stop?"),
    paragraph(`${persona} gave up on ${phase} of team ${team} after ${attempts}: ${ticket.category}.`),
    ...(last === undefined ? [] : [code(last.message)]),
    heading("What do I do?"),
    { kind: "steps", items: actions(ticket) },
    heading("How do I resume?"),
    ticket.resumeCommand === "" ? paragraph(startProgram) : code(ticket.resumeCommand),
    ...(failures.length > 1 ? [heading("Every failure"), code(failures.map(failureLine).join("\n"))] : []),
  ];
}

function aboutOutage(ticket: Ticket, { dependency, since, nextProbeAt }: TicketOutage): readonly Block[] {
  const next = nextProbeAt === undefined ? "" : `, the next one not before ${isoTime(nextProbeAt)}`;
  return [
    heading("What does it cost now?"),
    paragraph(`Nothing: ${dependency} is not called while its breaker is open.`),
    heading("Why do sessions wait?"),
    paragraph(
      `${dependency} has not answered since ${isoTime(since)}: ${ticket.attempts} probes of it have failed.`,
    ),
    heading("What do I do?"),
    { kind: "steps", items: actions(ticket) },
    heading("How do they resume?"),
    paragraph(`By themselves, as soon as a probe succeeds${next}. To let the next call through now:`),
    code(ticket.resumeCommand),
  ];
}

const startProgram = "Start the program that defines the team again: personas of the team are code.";

const heading = (text: string): Block => ({ kind: "heading", text });
const paragraph = (text: string): Block => ({ kind: "paragraph", text });
const code = (text: string): Block => ({ kind: "code", text });

const actions = ({ suggestedActions }: Ticket): readonly string[] =>
  suggestedActions.length > 0 ? suggestedActions : ["Read the failures below, fix the cause, then resume."];

const failureLine = ({ round, attempt, message, category }: Ticket["failures"][number]): string =>
  `round ${round}, attempt ${attempt}${category === undefined ? "" : ` (${category})`}: ${message}`;

function contextLines(ticket: Ticket): readonly string[] {
  const { sessionId, team, phase, persona, category, attempts, createdAt, fingerprint, problem } = ticket;
  const of = ticket.outage === undefined ? { session: sessionId, team, phase, persona } : {};
  const known = { ...of, category, attempts, raised: isoTime(createdAt), ticket: fingerprint, problem };
  return Object.entries({ ...known, ...ticket.context }).map(([name, value]) => `${name}: ${value}`);
}

const isoTime = (at: number): string => new Date(at).toISOString();

function spentSoFar(spent: TicketSpend | undefined): string {
  if (spent === undefined) return "";
  if (spent.tokens === 0) return "So far it has used no model.";
  const tokens = `${spent.tokens.toLocaleString("en-US")} tokens`;
  if (spent.microUsd === undefined) return `So far it has used ${tokens}, at a price that is not known.`;
  return `So far it has used ${tokens}, ${(spent.microUsd / 1_000_000).toFixed(4)} USD.`;
}

/** Fills from the front, so that the answers stay whole and only evidence is cut. */
function boundCode(blocks: readonly Block[]): readonly Block[] {
  let left = codeLimit;
  return blocks.map((block) => {
    if (block.kind !== "code") return block;
    const text = cut(block.text, Math.max(left, 60));
    left -= text.length;
    return { kind: "code", text };
  });
}
