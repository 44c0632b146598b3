import type { FilePart, GenerateTextResult, ModelMessage, StepResult, TextPart, ToolSet } from "ai";
import { type Clock, systemClock } from "../../domain/clock.ts";
import { InputInvalid } from "../../domain/errors.ts";
import type { Tree } from "../../domain/tree.ts";
import type { RunStep } from "../../journal/durable-step.ts";
import type { Attached } from "../function.ts";
import type { MustAsk } from "../tools/approval-rules.ts";
import { builtIn, type OfferedTool } from "../tools/offered-tool.ts";
import type { KeepText } from "../tools/tool-call.ts";
import { ToolRunner } from "../tools/tool-runner.ts";
import { createTools } from "../tools/tool-set.ts";
import { defaultTools, namedTools } from "../tools/tool-table.ts";
import { type PersonaReturn, submissionOf, submitCalls } from "./answer.ts";
import { type CallLimits, defaultMaxOutputTokens } from "./call-limits.ts";
import { ContextWindow } from "./context-window.ts";
import { repeatedWrongCall, withShortErrors } from "./conversation-errors.ts";
import { durableModel } from "./durable-model.ts";
import { type LoopLimits, LoopMeter } from "./loop-limits.ts";
import { modelName } from "./model-object.ts";
import {
  type AdviseEdit,
  allowEverything,
  type FetchUrl,
  noPrograms,
  type Pricing,
  type ReadSkill,
  type RunCheck,
  type RunProgram,
  type ToolFiles,
  type ToolPolicy,
} from "./ports.ts";
import { type PersonaWork, personaPrompt } from "./prompt.ts";
import { thinkingTokens } from "./provider-table.ts";
import { type Reasoning, reasoningOptions } from "./reasoning.ts";
import type { AnyModel, Model } from "./sdk-types.ts";

/** The ports of a model persona. */
export interface ModelPersonaPorts {
  /** A fallback is the caller's choice: another attempt may pass another model. */
  readonly model: AnyModel;
  readonly runStep: RunStep;
  readonly files: ToolFiles;
  readonly adviseEdit: AdviseEdit;
  readonly runCheck: RunCheck;
  /** Missing: none of its tools runs programs. */
  readonly runProgram?: RunProgram;
  /** Missing: it has no skills. */
  readonly readSkill?: ReadSkill;
  /** See `ToolPorts`. */
  readonly keepText?: KeepText;
  readonly fetchUrl?: FetchUrl | undefined;
  /** Missing: the default ones. */
  readonly tools?: readonly OfferedTool[];
  readonly signal: AbortSignal;
  readonly policy?: ToolPolicy;
  /** Missing: no call waits for a person's approval. */
  readonly mustAsk?: MustAsk;
  /** See `ToolRunner`. */
  readonly refuseProtected?: (since: Tree) => Promise<void>;
  readonly pricing?: Pricing;
  readonly maxOutputTokens?: number;
  readonly temperature?: number;
  readonly reasoning?: Reasoning;
  /** The tokens of the model's context window. Missing: unknown, and nothing is summarized. */
  readonly contextWindow?: number;
  readonly limits?: Partial<LoopLimits & CallLimits>;
  readonly clock?: Clock;
  readonly onText?: (delta: string) => void;
  readonly onProgress?: () => void;
  readonly onWarning?: (warning: unknown) => void;
}

/** One conversation, from the brief to `submit`. Recorded calls are replayed, not made or paid again. */
export async function runModelPersona(work: PersonaWork, ports: ModelPersonaPorts): Promise<PersonaReturn> {
  const conversation = await Conversation.begin(work, ports);
  for (;;) {
    const end = await conversation.proceed();
    if (end.kind === "submitted") return end.result;
    conversation.tell(end.message);
  }
}

type Result = GenerateTextResult<ToolSet, Record<string, unknown>, never>;
type Submitted = { readonly kind: "submitted"; readonly result: PersonaReturn };
type Told = { readonly kind: "told"; readonly message: string };

class Conversation {
  readonly #work: PersonaWork;
  readonly #ports: ModelPersonaPorts;
  readonly #meter: LoopMeter;
  readonly #runner: ToolRunner;
  readonly #model: Model;
  readonly #instructions: string;
  readonly #messages: ModelMessage[];
  readonly #offered: readonly OfferedTool[];
  readonly #window: ContextWindow | undefined;
  #tools: ToolSet = {};
  /** Of all loops so far. */
  readonly #steps: StepResult<ToolSet>[] = [];
  /** How often the model was told of an answer that is not a submission: once is enough, until it works again. */
  #nudges = 0;
  /** Answers that were cut, since the last one whose tool calls ran. */
  #cuts = 0;

  private constructor(work: PersonaWork, ports: ModelPersonaPorts) {
    this.#offered = ports.tools ?? defaultTools.map((name) => builtIn(name, work.contract));
    const { instructions, task, attempt } = personaPrompt(
      work,
      this.#offered.map(({ name }) => name),
    );
    this.#work = work;
    this.#ports = ports;
    this.#meter = new LoopMeter(ports.limits, ports.clock ?? systemClock);
    this.#instructions = instructions;
    const shown = (work.attached ?? []).filter(({ isShown }) => isShown);
    this.#messages = [{ role: "user", content: [text(task), ...shown.map(image), text(attempt)] }];
    const runStep = this.#meter.timed(ports.runStep);
    this.#model = durable({ ...ports, runStep }, shown);
    this.#window = this.#openWindow();
    this.#runner = new ToolRunner({
      runStep,
      files: ports.files,
      adviseEdit: ports.adviseEdit,
      runCheck: ports.runCheck,
      runProgram: ports.runProgram ?? noPrograms,
      readSkill: ports.readSkill,
      keepText: ports.keepText,
      fetchUrl: ports.fetchUrl,
      contract: work.contract,
      policy: ports.policy ?? allowEverything,
      mustAsk: ports.mustAsk ?? (() => false),
      refuseProtected: ports.refuseProtected ?? (async () => {}),
      signal: ports.signal,
    });
  }

  static async begin(work: PersonaWork, ports: ModelPersonaPorts): Promise<Conversation> {
    const conversation = new Conversation(work, ports);
    conversation.#tools = await createTools(conversation.#offered, conversation.#runner);
    return conversation;
  }

  tell(message: string): void {
    this.#messages.push({ role: "user", content: message });
  }

  /** To the end of the SDK's own loop: a submission, an answer without one, or a limit. */
  async proceed(): Promise<Submitted | Told> {
    const result = await this.#loop();
    this.#steps.push(...result.steps);
    this.#runner.throwIfBroken();
    const problem = this.#runner.stuck.problem ?? repeatedWrongCall(this.#steps);
    if (problem !== undefined) throw this.#failed(problem, "Go about it in another way.");
    if (result.steps.some(({ toolResults }) => toolResults.length > 0)) {
      this.#nudges = 0;
      this.#cuts = 0;
    }
    const last = result.finalStep;
    if (last.finishReason === "length") return this.#cut(result);
    if (last.finishReason === "content-filter") {
      throw this.#failed(
        "got no answer: the provider's content filter stopped it",
        "Word the task otherwise.",
      );
    }
    const submission = submissionOf(last);
    const failedBeside = last.content.some(({ type }) => type === "tool-error");
    if (submission !== undefined && !failedBeside) return { kind: "submitted", result: submission };
    this.#checkLimits();
    this.#messages.push(...result.responseMessages);
    if (submission !== undefined) return this.#refuse(last);
    if (this.#nudges > 0)
      throw this.#failed("answered without submitting, twice", `End with the ${namedTools.submit} tool.`);
    this.#nudges += 1;
    return {
      kind: "told",
      message: "You answered without a tool call. If everything is done, call submit; otherwise continue.",
    };
  }

  /**
   * It was written before the model could know that another call of the same answer failed. Every submission of the answer
   * gets a result: a call without one cannot be sent back.
   */
  #refuse(answer: Result["finalStep"]): Told {
    const value = "Not accepted: another call of the same answer failed.";
    const output = { type: "error-text", value } as const;
    const content = submitCalls(answer).map(
      ({ toolCallId, toolName }) => ({ type: "tool-result", toolCallId, toolName, output }) as const,
    );
    this.#messages.push({ role: "tool", content });
    return { kind: "told", message: "Mend what failed, then submit again." };
  }

  async #loop(): Promise<Result> {
    const { generateText } = await import("ai");
    this.#meter.beginLoop();
    const result = await generateText({
      ...this.#settings(),
      messages: this.#messages,
      tools: this.#tools,
      // In order: the second call of an answer may rest on what the first one did.
      toolCallConcurrency: 1,
      stopWhen: ({ steps }) => {
        this.#meter.count(steps);
        const wrongCall = repeatedWrongCall([...this.#steps, ...steps]);
        return this.#runner.mustStop || wrongCall !== undefined || this.#meter.problem !== undefined;
      },
      prepareStep: async ({ initialMessages, responseMessages, steps }) => {
        const messages = withShortErrors([...initialMessages, ...responseMessages]);
        const last = steps.at(-1) ?? this.#steps.at(-1);
        return { messages: this.#window === undefined ? messages : await this.#window.fit(messages, last) };
      },
    });
    this.#meter.count(result.steps);
    return result;
  }

  /** The same for every call of the conversation: another setting would make the provider's cache useless. */
  #settings() {
    const { temperature, signal } = this.#ports;
    return {
      model: this.#model,
      instructions: this.#instructions,
      // Ours are counted on disk; two more here would multiply them.
      maxRetries: 0,
      ...this.#output(),
      ...(temperature !== undefined && { temperature }),
      abortSignal: signal,
    };
  }

  #output(): ReturnType<typeof reasoningOptions> {
    const { reasoning, maxOutputTokens = defaultMaxOutputTokens } = this.#ports;
    return reasoningOptions(modelName(this.#model), reasoning, maxOutputTokens);
  }

  #openWindow(): ContextWindow | undefined {
    const { contextWindow: tokens } = this.#ports;
    if (tokens === undefined) return undefined;
    const options = this.#output();
    const output = (options.maxOutputTokens ?? 0) + thinkingTokens({ prompt: [], ...options });
    return new ContextWindow({ tokens, output, summarize: (messages) => this.#summarize(messages) });
  }

  /** With the tools of every call, so that the provider finds the messages in its cache; none of them is run. */
  async #summarize(messages: ModelMessage[]): Promise<string> {
    const { generateText } = await import("ai");
    const described = Object.entries(this.#tools).map(([name, tool]) => [
      name,
      { ...tool, execute: undefined },
    ]);
    const tools = Object.fromEntries(described) as ToolSet;
    const { text, usage } = await generateText({ ...this.#settings(), messages, tools });
    this.#meter.countAside(usage.totalTokens ?? 0);
    return text;
  }

  /** The tool calls of a cut answer were not run and have no results: they may not stay in the conversation. */
  #cut(result: Result): Told {
    this.#checkLimits();
    this.#cuts += 1;
    const tokens = this.#ports.maxOutputTokens ?? defaultMaxOutputTokens;
    if (this.#cuts >= 3)
      throw this.#failed(`had ${this.#cuts} answers cut at ${tokens} tokens`, "Do less in one answer.");
    const { steps, finalStep } = result;
    this.#messages.push(...steps.slice(0, -1).flatMap(({ response }) => response.messages));
    this.#messages.push({ role: "assistant", content: finalStep.text.trim() || "[cut]" });
    return {
      kind: "told",
      message: `Your answer was cut before its end, and no tool call in it was run. It may have ${tokens} tokens at most. Do less in one answer: write long files in parts.`,
    };
  }

  #checkLimits(): void {
    const reached = this.#meter.problem;
    if (reached !== undefined) throw this.#failed(reached.what, reached.advice);
  }

  /** On quality, not from an outage: the next attempt begins a new conversation with the reasons. */
  #failed(what: string, advice: string): InputInvalid {
    const { persona, phase } = this.#work;
    return new InputInvalid(`${persona} ${what}.`, { advice, details: { persona, phase } });
  }
}

/** Streamed, so that people can watch and silence is noticed. */
function durable(ports: ModelPersonaPorts, shown: readonly Attached[]): Model {
  const { model, runStep, pricing, limits, clock, signal, onText, onProgress, onWarning } = ports;
  return durableModel(model, {
    runStep,
    signal,
    streamAlways: true,
    numberToolCalls: true,
    stored: new Map(shown.map((each) => [each.content, each])),
    onWarning: (warning) => onWarning?.(warning),
    ...(pricing && { pricing }),
    ...(limits && { limits: callLimits(limits) }),
    ...(clock && { clock }),
    ...(onText && { onText }),
    ...(onProgress && { onProgress }),
  });
}

const text = (value: string): TextPart => ({ type: "text", text: value });

const image = ({ name, mediaType, content }: Attached): FilePart => ({
  type: "file",
  data: content,
  mediaType,
  filename: name,
});

function callLimits({ silenceMs, totalMs }: Partial<CallLimits>): Partial<CallLimits> {
  return {
    ...(silenceMs !== undefined && { silenceMs }),
    ...(totalMs !== undefined && { totalMs }),
  };
}
