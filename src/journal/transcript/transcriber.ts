import { isoTime } from "../../domain/iso-time.ts";
import type { Json } from "../../domain/json.ts";
import { redact, redactJson } from "../../domain/redact.ts";
import { eventOf, type Transition, type TransitionOf } from "../events.ts";
import { beginsDrive } from "../facts.ts";
import type { RecordedRow } from "../journal.ts";
import { decodeTransition, isStep } from "../journal-codec.ts";
import type { PersonaChecks } from "../judgment-values.ts";
import { ToolRequests } from "../step-facts.ts";
import { usageOfCall } from "./call-usage.ts";
import type { CheckPart, ItemPlace, TranscriptItem } from "./item.ts";
import type { PaidCall, TranscriptPorts } from "./ports.ts";
import { StepItems, withOutput } from "./step-items.ts";
import { checkPart, lostCall, type WithContent } from "./step-parts.ts";

/** Limits a transcript. Missing members: everything. */
export interface TranscriptChoice {
  readonly phase?: string | undefined;
  readonly persona?: string | undefined;
  /** Counted over all rounds of the persona in its phase, from 1. */
  readonly attempt?: number | undefined;
}

type Place = Pick<ItemPlace, "phase" | "persona" | "round" | "attempt">;

const nowhere: Place = { phase: null, persona: null, round: null, attempt: null };

/** Makes the transcript of a session from its rows, read in order from the first. */
export class Transcriber {
  readonly #ports: TranscriptPorts;
  readonly #choice: TranscriptChoice;
  readonly #steps: StepItems;
  /** By the seq of the attempt's first row. */
  readonly #attempts = new Map<number, Place>();
  /** The time of the newest row of each running attempt: its steps run one after the other. */
  readonly #lastAt = new Map<number, number>();
  readonly #counts = new Map<string, number>();
  readonly #requests = new ToolRequests();
  /** The places of calls that people decide, by the row that asks. */
  readonly #asked = new Map<number, Place>();
  #lost: readonly PaidCall[];

  constructor(ports: TranscriptPorts, choice: TranscriptChoice = {}) {
    this.#ports = ports;
    this.#choice = choice;
    this.#steps = new StepItems(ports);
    this.#lost = ports.calls.filter(({ status, step }) => status === "estimated" && step === null);
  }

  /** The items of a row. `isWanted`: false for a row before the first wanted one. */
  async read(row: RecordedRow, isWanted = true): Promise<readonly TranscriptItem[]> {
    const items = isStep(row) ? await this.#step(row, isWanted) : await this.#transition(row, isWanted);
    const before = row.attempt === null ? [] : this.#lostBefore(row.at, row.attempt);
    return isWanted ? [...before, ...items] : [];
  }

  /** Lost calls that no later row follows. */
  rest(): readonly TranscriptItem[] {
    return this.#lostBefore(Number.POSITIVE_INFINITY);
  }

  async #step(row: RecordedRow, isWanted: boolean): Promise<readonly TranscriptItem[]> {
    const started = row.attempt ?? 0;
    const request = this.#requests.read(row);
    const place = this.#attempts.get(started) ?? nowhere;
    const since = this.#lastAt.get(started);
    this.#lastAt.set(started, row.at);
    if (!isWanted || !this.#fits(place)) return [];
    const ms = since === undefined ? null : Math.max(0, row.at - since);
    return this.#steps.read(row, request, { ...place, ms });
  }

  async #transition(row: RecordedRow, isWanted: boolean): Promise<readonly TranscriptItem[]> {
    const entry = decodeTransition(row);
    // The time between a crash and the next drive belongs to no step.
    if (beginsDrive(entry)) for (const started of this.#lastAt.keys()) this.#lastAt.set(started, row.at);
    if (entry.kind === "attempt.started") this.#begin(row, entry);
    if (entry.kind === "call.waiting") this.#asked.set(row.seq, this.#attempts.get(entry.started) ?? nowhere);
    const place = this.#placeOf(entry);
    const parts = isWanted && this.#fits(place) ? this.#parts(entry) : [];
    if (entry.kind === "attempt.completed" || entry.kind === "attempt.failed") {
      this.#requests.forget(entry.started);
      this.#lastAt.delete(entry.started);
    }
    const at = { ...place, seq: row.seq, at: isoTime(row.at), ms: null, usage: null };
    const items = parts.map(async ({ persona = place.persona, ...part }) => {
      const whole = part.kind === "check" ? await withOutput(part, this.#ports) : part;
      return { ...at, persona, ...whole };
    });
    return (await Promise.all(items)).filter((item) => this.#fits(item));
  }

  #begin({ seq, at }: RecordedRow, { phase, persona, round }: TransitionOf<"attempt.started">): void {
    const key = `${phase} ${persona}`;
    const attempt = (this.#counts.get(key) ?? 0) + 1;
    this.#counts.set(key, attempt);
    this.#attempts.set(seq, { phase, persona, round, attempt });
    this.#lastAt.set(seq, at);
  }

  #placeOf(entry: Transition): Place {
    if ("started" in entry) return this.#attempts.get(entry.started) ?? nowhere;
    const named = entry.kind === "signal.received" ? entry.signal : entry;
    if ("call" in named && typeof named.call === "number") return this.#asked.get(named.call) ?? nowhere;
    const { phase = null, persona = null } = named as { readonly phase?: string; readonly persona?: string };
    return { ...nowhere, phase, persona };
  }

  #parts(entry: Transition): readonly Spoken[] {
    const said = eventOf(entry.kind)?.said?.(entry);
    if (said !== undefined) {
      const { action, text, ...by } = said;
      return [{ kind: "person", action, ...by, content: redact(text) }];
    }
    if (entry.kind === "attempt.completed" || entry.kind === "attempt.failed") return endingParts(entry);
    if (entry.kind === "phase.completed") return (entry.checks ?? []).flatMap(ofPhase);
    if (entry.kind !== "baseline.measured") return [];
    const { checks, output, message, status } = entry;
    const result = { status, message, ...(output !== undefined && { output }) };
    return checks.map((name) => checkPart(name, { result, error: null }, "baseline"));
  }

  /** Without `kind`: whether items of the place can fit. A person's word without an attempt concerns every attempt. */
  #fits({ phase, persona, attempt, kind }: Place & { readonly kind?: TranscriptItem["kind"] }): boolean {
    const { phase: chosenPhase, persona: chosen, attempt: number } = this.#choice;
    if (chosenPhase !== undefined && phase !== null && phase !== chosenPhase) return false;
    if (chosen !== undefined && persona !== null && persona !== chosen) return false;
    if (kind === undefined || kind === "person")
      return attempt === null || number === undefined || attempt === number;
    if (number !== undefined) return attempt === number;
    return persona !== null || chosen === undefined;
  }

  #lostBefore(at: number, started?: number): readonly TranscriptItem[] {
    const isDue = (call: PaidCall): boolean => call.at < at && (started ?? call.started) === call.started;
    const due = this.#lost.filter(isDue);
    if (due.length === 0) return [];
    this.#lost = this.#lost.filter((call) => !isDue(call));
    return due
      .map((call) => ({
        ...(this.#attempts.get(call.started) ?? nowhere),
        seq: null,
        at: isoTime(call.at),
        ms: null,
        usage: usageOfCall(call) ?? null,
        ...lostCall(call.model),
      }))
      .filter((item) => this.#fits(item));
  }
}

/** `persona`: of a part whose row names several. */
type Spoken = WithContent & { readonly persona?: string };

type EndOfAttempt = Extract<Transition, { kind: "attempt.completed" | "attempt.failed" }>;

/** Commands that judged it are steps of their own. */
function endingParts(entry: EndOfAttempt): readonly WithContent[] {
  const { checks = [], healing = [] } = entry;
  const judged = checks.filter(({ kind }) => kind !== "command");
  const content = entry.kind === "attempt.completed" ? entry.result.summary : entry.failure.message;
  const status = entry.kind === "attempt.completed" ? "completed" : "failed";
  return [
    ...judged.map((check) => checked(check, "attempt")),
    ...healing.map(
      ({ healer, action, outcome }) =>
        ({ kind: "healing", healer, outcome, content: redact(action) }) as const,
    ),
    { kind: "ending", status, content: redact(content) },
  ];
}

const ofPhase = ({ persona, results }: PersonaChecks): readonly Spoken[] =>
  results.map((result) => ({ persona, ...checked(result, "phase") }));

const checked = (result: PersonaChecks["results"][number], of: CheckPart["of"]): WithContent<CheckPart> =>
  checkPart(result.name, { result: redactJson(result as unknown as Json), error: null }, of);
