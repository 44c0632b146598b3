import { sha256 } from "../../../domain/canonical.ts";
import { systemClock } from "../../../domain/clock.ts";
import type { Json } from "../../../domain/json.ts";
import { simulatedName } from "../../../domain/simulated.ts";
import { namedTools } from "../../tools/tool-table.ts";
import { type Answer, toGenerateResult, toStreamParts } from "../answer.ts";
import { type Asking, whoAsks } from "../prompt.ts";
import type { CallOptions, Content, Model, StreamPart } from "../sdk-types.ts";
import { defaultTurns, simulatedMark, submitTurn } from "./default-turns.ts";
import {
  loadScript,
  parseScript,
  type SimulatedFault,
  type SimulatedScript,
  type SimulatedTurn,
} from "./script.ts";

/** One player per script and process: it knows which faults have happened. */
const shared = new Map<string, Promise<Model>>();
const sharedByScript = new WeakMap<SimulatedScript, Model>();
const noScript: SimulatedScript = {};

/** A model that plays a script, offline and the same each time; it says of itself that it is simulated. */
export async function simulatedModel(script: SimulatedScript | string = noScript): Promise<Model> {
  if (typeof script !== "string") return fromScript(script);
  const known = shared.get(script);
  if (known !== undefined) return known;
  const created = loadScript(script).then(create);
  shared.set(script, created);
  created.catch(() => shared.delete(script));
  return created;
}

function fromScript(script: SimulatedScript): Model {
  const known = sharedByScript.get(script);
  if (known !== undefined) return known;
  const created = create(parseScript(script as unknown as Json, "The script"));
  sharedByScript.set(script, created);
  return created;
}

function create(script: SimulatedScript): Model {
  const player = new Player(script);
  return {
    specificationVersion: "v4",
    provider: simulatedName,
    modelId: simulatedName,
    supportedUrls: {},
    doGenerate: async (options) => {
      const { answer, cut } = await player.play(options);
      if (cut) throw await simulatedError({ kind: "garbage" });
      return toGenerateResult(answer);
    },
    doStream: async (options) => {
      const { answer, cut } = await player.play(options);
      const parts = player.pieces(toStreamParts(answer));
      return { stream: ReadableStream.from(cut ? endingEarly(parts) : parts) };
    },
  };
}

function* endingEarly(parts: readonly StreamPart[]): Generator<StreamPart> {
  yield* parts.slice(0, Math.floor(parts.length / 2));
  throw cutConnection();
}

class Player {
  readonly #script: SimulatedScript;
  /** How often a turn has failed in this process. */
  readonly #failed = new Map<string, number>();

  constructor(script: SimulatedScript) {
    this.#script = script;
  }

  async play(options: CallOptions): Promise<{ readonly answer: Answer; readonly cut: boolean }> {
    const asking = whoAsks(options.prompt);
    // Each answer is one message of the conversation: where it stands says which turn comes next, in any process.
    const index = options.prompt.filter(({ role }) => role === "assistant").length;
    const turn = this.#turn(asking, index, options);
    const fault = this.#fault(turn, `${asking?.phase}/${asking?.persona}/${asking?.attempt}/${index}`);
    await systemClock.sleep(turn.latencyMs ?? this.#script.latencyMs ?? 0, options.abortSignal);
    if (fault !== undefined && "kind" in fault && fault.kind === "silence")
      await untilAborted(options.abortSignal);
    const kind = fault !== undefined && "kind" in fault ? fault.kind : undefined;
    if (fault !== undefined && kind !== "cut" && kind !== "empty") throw await simulatedError(fault);
    const answer = this.#answer(kind === "empty" ? {} : turn, index, options);
    return { answer, cut: kind === "cut" };
  }

  /** Text comes in pieces, as from a real service. */
  pieces(parts: readonly StreamPart[]): StreamPart[] {
    const size = 8 + ((this.#script.seed ?? 0) % 32);
    return parts.flatMap((part): StreamPart[] => {
      if (part.type !== "text-delta") return [part];
      const characters = Array.from(part.delta);
      return Array.from({ length: Math.ceil(characters.length / size) }, (_, piece) => ({
        ...part,
        delta: characters.slice(piece * size, (piece + 1) * size).join(""),
      }));
    });
  }

  #turn(asking: Asking | undefined, index: number, options: CallOptions): SimulatedTurn {
    if (asking === undefined)
      return { text: "This is the simulated model of Maestro. Nothing was asked of a real one." };
    const { personas = {} } = this.#script;
    const attempts = own(personas, `${asking.phase}/${asking.persona}`) ?? own(personas, asking.persona);
    const turns = attempts?.[asking.attempt - 1] ?? attempts?.at(-1) ?? defaultTurns(asking, options);
    return turns[index] ?? submitTurn(asking, options);
  }

  #fault({ fault }: SimulatedTurn, key: string): SimulatedFault | undefined {
    if (fault === undefined) return undefined;
    const failed = this.#failed.get(key) ?? 0;
    if (failed >= (fault.times ?? 1)) return undefined;
    this.#failed.set(key, failed + 1);
    return fault;
  }

  #answer({ text, calls = [], usage }: SimulatedTurn, index: number, options: CallOptions): Answer {
    const content: Content[] = [
      ...(text === undefined ? [] : [{ type: "text" as const, text: marked(text) }]),
      ...calls.map(({ tool, input }, call) => ({
        type: "tool-call" as const,
        toolCallId: `simulated-${index}-${call}-${sha256(`${this.#script.seed ?? 0} ${tool}`).slice(0, 8)}`,
        toolName: tool,
        input: JSON.stringify(tool === namedTools.submit ? markedSubmit(input) : input),
      })),
    ];
    const input = usage?.input ?? tokensOf(options.prompt);
    const output = usage?.output ?? tokensOf(content);
    const cachedInput = Math.min(usage?.cachedInput ?? 0, input);
    const reasoning = Math.min(usage?.reasoning ?? 0, output);
    return {
      content,
      finishReason: { unified: calls.length > 0 ? "tool-calls" : "stop", raw: simulatedName },
      usage: {
        inputTokens: { total: input, noCache: input - cachedInput, cacheRead: cachedInput, cacheWrite: 0 },
        outputTokens: { total: output, text: output - reasoning, reasoning },
      },
      warnings: [],
      providerMetadata: { simulated: { simulated: true } },
      response: { id: `simulated-${index}`, modelId: simulatedName },
    };
  }
}

const own = <T>(values: Readonly<Record<string, T>>, key: string): T | undefined =>
  Object.hasOwn(values, key) ? values[key] : undefined;

const marked = (text: string): string => (text.startsWith(simulatedMark) ? text : `${simulatedMark} ${text}`);

const markedSubmit = (input: Readonly<Record<string, Json>>): Json =>
  typeof input["summary"] === "string" ? { ...input, summary: marked(input["summary"]) } : input;

const tokensOf = (value: unknown): number => Math.ceil(Buffer.byteLength(JSON.stringify(value)) / 4);

const untilAborted = (signal: AbortSignal | undefined): Promise<never> =>
  new Promise((_, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });

/** The very errors that provider packages throw, so that everything above meets what it would meet. */
async function simulatedError(fault: SimulatedFault): Promise<Error> {
  const { APICallError } = await import("ai");
  const about = { url: "simulated:", requestBodyValues: {} };
  if ("status" in fault) {
    const { status, retryAfter, message } = fault;
    const headers = retryAfter === undefined ? {} : { "retry-after": String(retryAfter) };
    return new APICallError({
      ...about,
      message: message ?? `Simulated failure: status ${status}.`,
      statusCode: status,
      responseHeaders: headers,
    });
  }
  if (fault.kind === "reset") {
    const cause = Object.assign(new Error("read ECONNRESET"), { code: "ECONNRESET" });
    return new APICallError({
      ...about,
      message: "Cannot connect to API: read ECONNRESET (simulated)",
      cause,
      isRetryable: true,
    });
  }
  if (fault.kind === "overflow") {
    const message = "Simulated failure: prompt is too long (context_length_exceeded).";
    return new APICallError({ ...about, message, statusCode: 400 });
  }
  return new APICallError({
    ...about,
    message: "Invalid JSON response (simulated)",
    statusCode: 200,
    responseBody: "<html>garbage</html>",
  });
}

/** How a connection ends that the other side closed in the middle of an answer. */
const cutConnection = (): Error =>
  new TypeError("terminated", {
    cause: Object.assign(new Error("other side closed"), { code: "UND_ERR_SOCKET" }),
  });
