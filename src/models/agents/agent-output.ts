import { isJsonObject, parseJson } from "../../domain/json.ts";
import { type AgentReport, type EventReader, noReport } from "./agent-report.ts";
import { ClaudeEvents } from "./claude-events.ts";
import { CodexEvents } from "./codex-events.ts";

/** An event longer than this is passed over; a text longer than this keeps its end. */
const maxLineLength = 8 * 1024 * 1024;
const maxTextLength = 256 * 1024;

/** Reads what an agent prints, as it comes: the events of the agents we know, or any text. */
export class AgentOutput {
  readonly #readers: readonly EventReader[] = [new ClaudeEvents(), new CodexEvents()];
  readonly #onText: (text: string) => void;
  #known: EventReader | undefined;
  #line = "";
  #lineTooLong = false;
  #text = "";

  constructor(onText: (text: string) => void) {
    this.#onText = onText;
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
    return { ...report, text: report.text.slice(-maxTextLength).toWellFormed().trim() };
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
      this.#text = (this.#text + line + end).slice(-maxTextLength);
      // Between events, other lines are the agent's own noise.
      if (this.#known === undefined) this.#onText(line + end);
    } else if (shown !== "") this.#onText(shown);
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
      return shown;
    }
    return undefined;
  }
}
