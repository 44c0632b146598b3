import type { Ticket, TicketOutage } from "../domain/ticket.ts";
import { costWhileStopped, nothingIsLost, resumeByProgram } from "../journal/explain-stop.ts";
import { cut } from "./plain-text.ts";

export type Block =
  | { readonly kind: "heading" | "paragraph" | "code"; readonly text: string }
  | { readonly kind: "steps"; readonly items: readonly string[] };

/** Escaping lengthens sentences but not code. This leaves room within 30,000 characters. */
const codeLimit = 20_000;
/** The reason is short enough that the answers after it are not cut. The details contain all of it. */
const whyLimit = 1_500;

/** The questions of the person on call, in order, then the evidence, which may be cut. */
export function ticketBody(ticket: Ticket): readonly Block[] {
  const { outage } = ticket;
  return boundCode([
    heading("Is anything lost?"),
    paragraph(nothingIsLost),
    ...(outage === undefined ? aboutSession(ticket) : aboutOutage(ticket, outage)),
    ...(ticket.details.length <= whyLimit ? [] : [heading("Details"), code(ticket.details)]),
    heading("Context"),
    code(contextLines(ticket).join("\n")),
  ]);
}

function aboutSession(ticket: Ticket): readonly Block[] {
  const { failures, spent, resumeCommand } = ticket;
  return [
    heading("What does it cost now?"),
    paragraph(costWhileStopped(spent)),
    heading("Why did it stop?"),
    code(cut(ticket.details || ticket.summary, whyLimit)),
    heading("What do I do?"),
    { kind: "steps", items: actions(ticket) },
    heading("How do I resume?"),
    resumeCommand === "" ? paragraph(resumeByProgram.text) : code(resumeCommand),
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
