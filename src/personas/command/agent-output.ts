import { isJsonObject, type Json, parseJson } from "../../domain/json.ts";
import { redact } from "../../domain/redact.ts";
import type { Decision, PersonaReturn } from "../model/answer.ts";
import type { Hide } from "./agent-error.ts";
import { type AgentReport, type EventReader, noReport } from "./agent-events.ts";
import { knownAgents } from "./known-agents.ts";

/** An event longer than this is passed over; a text longer than this keeps its end. */
const maxLineLength = 8 * 1024 * 1024;
const maxTextLength = 256 * 1024;

interface AgentListener {
  readonly onText: (text: string) => void;
  /** The id of the conversation, as soon as the agent prints it. */
  readonly onSession?: (session: string) => void;
  /** After each event of a known agent: what it has reported so far. */
  readonly onReport?: (report: AgentReport) => void;
  /** Applied to all that is shown or kept. */
  readonly hide?: Hide;
}

/** Parses an agent's output stream: events of known agents, or plain text. */
export class AgentOutput {
  readonly #readers: readonly EventReader[] = Object.values(knownAgents).map(({ events }) => events());
  readonly #listener: AgentListener;
  readonly #hide: Hide;
  #session: string | null = null;
  #known: EventReader | undefined;
  #line = "";
  #lineTooLong = false;
  #text = "";

  constructor(listener: AgentListener) {
    this.#listener = listener;
    this.#hide = listener.hide ?? redact;
  }

  add(piece: string): void {
    const lines = piece.split("\n");
    lines.forEach((part, index) => {
      this.#line += this.#lineTooLong ? "" : part;
      if (this.#line.length > maxLineLength) this.#skipLine();
      if (index < lines.length - 1) this.#endLine("\n");
    });
  }

  finish(): AgentReport {
    this.#endLine("");
    const report = this.#known?.report ?? { ...noReport, text: this.#text };
    return { ...report, text: endOf(this.#hide(report.text), maxTextLength) };
  }

  #skipLine(): void {
    this.#line = "";
    this.#lineTooLong = true;
  }

  #endLine(end: string): void {
    const line = this.#line;
    this.#line = "";
    const skipped = this.#lineTooLong;
    this.#lineTooLong = false;
    if (skipped || (line === "" && end === "")) return;
    const shown = this.#event(line);
    if (shown === undefined) {
      this.#keep(line + end);
      // Between events, other lines are the agent's own noise.
      if (this.#known === undefined) this.#show(line + end);
    } else if (shown !== "") this.#show(shown);
  }

  #show(text: string): void {
    this.#listener.onText(this.#hide(text));
  }

  /** More than is wanted, and never a part of a word: half a key could not be recognized. */
  #keep(text: string): void {
    this.#text += text;
    if (this.#text.length <= maxTextLength * 3) return;
    this.#text = this.#text.slice(-maxTextLength * 2).replace(/^\S+/, "");
  }

  #event(line: string): string | undefined {
    if (!line.startsWith("{")) return undefined;
    let event: unknown;
    try {
      event = parseJson(line, { maxBytes: maxLineLength * 4 });
    } catch {
      return undefined;
    }
    if (!isJsonObject(event)) return undefined;
    const candidates = this.#known === undefined ? this.#readers : [this.#known];
    for (const reader of candidates) {
      const shown = reader.read(event);
      if (shown === undefined) continue;
      this.#known = reader;
      const { cliSession } = reader.report;
      if (cliSession !== null && cliSession !== this.#session) this.#listener.onSession?.(cliSession);
      this.#session = cliSession;
      this.#listener.onReport?.(reader.report);
      return shown;
    }
    return undefined;
  }
}

/** The end says how it came out. Cut last: what is hidden must be recognized first. */
export const endOf = (hidden: string, maxLength: number): string =>
  hidden.slice(-maxLength).toWellFormed().trim();

const maxDecisions = 100;

/** The closing JSON block that the prompt asks for, or the text as it is. */
export function readLastWord(text: string): PersonaReturn {
  const found = lastObject(text);
  const summary = found?.["summary"];
  if (found === undefined || typeof summary !== "string" || summary.trim() === "")
    return { summary: text, outputs: {}, decisions: [] };
  const outputs = found["outputs"];
  return {
    summary: summary.trim(),
    outputs: isJsonObject(outputs) ? outputs : {},
    decisions: decisionsOf(found["decisions"]),
  };
}

/** Fenced or bare, as long as nothing follows. */
function lastObject(text: string): Readonly<Record<string, Json>> | undefined {
  const fenced = text.lastIndexOf("```json");
  const bare = text.trimEnd();
  const candidates = [
    fenced === -1 ? undefined : text.slice(fenced + "```json".length).replace(/```[\s\S]*$/, ""),
    bare.startsWith("{") ? bare : undefined,
  ];
  for (const candidate of candidates) {
    if (candidate === undefined) continue;
    try {
      const value = parseJson(candidate.trim(), { maxBytes: 1024 * 1024, maxDepth: 50, refuseProto: true });
      if (isJsonObject(value)) return value;
    } catch {
      // Not JSON: the text is the summary.
    }
  }
  return undefined;
}

function decisionsOf(value: Json | undefined): Decision[] {
  if (!Array.isArray(value)) return [];
  return (value as readonly Json[]).slice(0, maxDecisions).flatMap((item) => {
    if (!isJsonObject(item) || typeof item["decision"] !== "string") return [];
    const { decision, reason, rejected } = item;
    return [
      {
        decision,
        reason: typeof reason === "string" ? reason : "",
        ...(Array.isArray(rejected) && {
          rejected: (rejected as readonly Json[]).filter((text) => typeof text === "string"),
        }),
      },
    ];
  });
}
