import { isoTime } from "../../domain/iso-time.ts";
import { isJsonObject, type Json, type JsonObject, jsonLimits, parseJson } from "../../domain/json.ts";
import { redact, redactJson } from "../../domain/redact.ts";
import { isCopied, type RecordedRow } from "../journal.ts";
import { parseBody } from "../journal-codec.ts";
import type { RequestedTool } from "../step-facts.ts";
import { usageOfAnswer, usageOfCall } from "./call-usage.ts";
import type { ItemPlace, TranscriptItem } from "./item.ts";
import { writtenText } from "./message-text.ts";
import type { PaidCall, TranscriptPorts } from "./ports.ts";
import {
  agentParts,
  answerParts,
  checkPart,
  failedCall,
  functionPart,
  type Outcome,
  toolPart,
  type WithContent,
} from "./step-parts.ts";

const resultLimits = { what: "a recorded result", maxBytes: 4 * jsonLimits.maxBytes };

/** `ms`: since the row before. */
export interface StepPlace extends Pick<ItemPlace, "phase" | "persona" | "round" | "attempt"> {
  readonly ms: number | null;
}

/** Makes the items of steps. */
export class StepItems {
  readonly #ports: TranscriptPorts;
  readonly #paid: ReadonlyMap<number, PaidCall>;
  /** Later prompts repeat the messages of earlier ones. */
  readonly #masked = new WeakMap<object, Json>();

  constructor(ports: TranscriptPorts) {
    this.#ports = ports;
    const recorded = ports.calls.flatMap((call) => (call.step === null ? [] : [[call.step, call] as const]));
    this.#paid = new Map(recorded);
  }

  /** `request`: the call that a tool's row answers. */
  async read(
    row: RecordedRow,
    request: RequestedTool | undefined,
    place: StepPlace,
  ): Promise<readonly TranscriptItem[]> {
    const step = bodyOf(row);
    const outcome = await this.#outcome(step);
    const parts = await this.#parts(row, step, request && redactJson({ ...request }), outcome);
    const at = { ...place, seq: row.seq, at: isoTime(row.at), usage: null };
    return parts.map((part) => {
      const item = { ...at, ...part };
      return item.kind === "answer" ? this.#paidFor(item, row, step, outcome) : item;
    });
  }

  async #parts(
    row: RecordedRow,
    { because }: JsonObject,
    request: RequestedTool | undefined,
    outcome: Outcome,
  ): Promise<readonly WithContent[]> {
    const name = row.name ?? "";
    switch (row.kind) {
      case "step.model":
        return [await this.#prompt(row, name), ...answerParts(name, outcome)];
      case "step.command":
        return agentParts(name, outcome);
      case "step.tool":
        return [toolPart(name, request, outcome)];
      case "step.check":
        return [await withOutput(checkPart(name, outcome, "attempt"), this.#ports)];
      case "step.function":
        return [functionPart(name, outcome)];
      case "step.wait":
        return typeof because === "string" ? [failedCall(redact(because))] : [];
      default:
        return [];
    }
  }

  /** A large result is an artifact. */
  async #outcome({ result, artifact, error }: JsonObject): Promise<Outcome> {
    const message = isJsonObject(error) ? error["message"] : undefined;
    const failure = typeof message === "string" ? redact(message) : error === undefined ? null : "It failed.";
    if (typeof artifact !== "string")
      return { result: result === undefined ? undefined : redactJson(result), error: failure };
    const text = await this.#ports.text(artifact);
    return {
      result: text === undefined ? undefined : redactJson(parseJson(text, resultLimits)),
      error: failure,
    };
  }

  async #prompt(row: RecordedRow, model: string): Promise<WithContent> {
    const { messages, tools, settings, repeats } = await this.#ports.sent(row);
    const shown = messages.map((message) => this.#mask(message));
    return {
      kind: "prompt",
      model,
      messages: shown,
      tools: tools === undefined ? null : (this.#mask(tools) as readonly Json[]),
      settings: redactJson(settings),
      repeats,
      content: writtenText(shown.slice(repeats)),
    };
  }

  #mask(value: JsonObject | readonly Json[]): Json {
    const known = this.#masked.get(value);
    if (known !== undefined) return known;
    const masked = redactJson<Json>(value);
    this.#masked.set(value, masked);
    return masked;
  }

  #paidFor(
    item: Extract<TranscriptItem, { kind: "answer" }>,
    row: RecordedRow,
    { timing }: JsonObject,
    { result }: Outcome,
  ): TranscriptItem {
    const call = this.#paid.get(row.seq);
    const { ms, firstMs } = isJsonObject(timing) ? timing : {};
    const paid = call === undefined || call.status === "open" ? undefined : call.endedAt - call.at;
    return {
      ...item,
      reused: isCopied(row),
      ms: typeof ms === "number" ? ms : (paid ?? item.ms),
      firstTokenMs: typeof firstMs === "number" ? firstMs : null,
      usage: (call && usageOfCall(call)) ?? usageOfAnswer(isJsonObject(result) ? result["usage"] : undefined),
    };
  }
}

/** A check with its whole output, if that is still stored. */
export async function withOutput<Part extends WithContent & { readonly output: string | null }>(
  part: Part,
  { text }: Pick<TranscriptPorts, "text">,
): Promise<Part> {
  const whole = part.output === null ? undefined : await text(part.output);
  return whole === undefined ? part : { ...part, content: redact(whole) };
}

function bodyOf({ body }: RecordedRow): JsonObject {
  const parsed = parseBody(body);
  return isJsonObject(parsed) ? parsed : {};
}
