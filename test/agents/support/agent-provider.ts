import { askedBy } from "../../support/loopback-conversation.ts";
import type { ModelTurn, ModelTurnUsage } from "../../support/loopback-model-turn.ts";
import { LoopbackModels, type ModelRequest, type Reaction } from "../../support/loopback-models.ts";

/** The tool that writes a file, by its name in each agent. */
const writers: Readonly<Record<string, (path: string, content: string) => unknown>> = {
  Write: (path, content) => ({ file_path: path, content }),
  exec_command: (path, content) => ({ cmd: `printf '%s' '${content}' > ${path}` }),
  write_file: (path, content) => ({ file_path: path, content }),
  write: (path, content) => ({ filePath: path, content }),
};

/** The part of its sub-agent's prompt by which the server tells the sub-agent from its parent. */
const delegated = "the part that was delegated";

interface Plan {
  /** Files that the agent writes, one in each answer, before it ends. */
  readonly files: number;
  /** Claude gives its first file to a sub-agent. */
  readonly delegates?: boolean;
  /** The answer, by number, that the server gives instead. */
  readonly instead?: (request: number) => Reaction | undefined;
}

/** Plays the provider of any agent: it lets the agent write files, and knows what it has answered, to the token. */
export class AgentProvider {
  readonly models: LoopbackModels;
  /** The tokens of each whole answer. */
  readonly answered: ModelTurnUsage[] = [];
  plan: Plan = { files: 2 };

  private constructor(models: LoopbackModels) {
    this.models = models;
    models.react = (request) => this.#react(request);
  }

  static async start(): Promise<AgentProvider> {
    return new AgentProvider(await LoopbackModels.start());
  }

  /** The tokens of all whole answers, as a ledger adds them up. */
  get total() {
    const sum = (part: keyof ModelTurnUsage) => this.answered.reduce((all, usage) => all + usage[part], 0);
    return {
      inputTokens: sum("input"),
      cachedInputTokens: sum("cached"),
      cacheWriteTokens: sum("cacheWrite"),
      outputTokens: sum("output"),
    };
  }

  #react(request: ModelRequest): Reaction {
    const number = this.models.requests.length;
    const instead = this.plan.instead?.(number);
    if (instead !== undefined) return instead;
    const hasCacheWrites = request.path.endsWith("/messages");
    const usage = {
      input: 1000 + 10 * number,
      cached: 500,
      cacheWrite: hasCacheWrites ? 100 : 0,
      output: 50 + number,
      reasoning: hasCacheWrites ? 0 : 7,
    };
    this.answered.push(usage);
    return { id: String(number), usage, ...this.#turn(request, number) };
  }

  #turn(request: ModelRequest, number: number): Pick<ModelTurn, "text" | "calls"> {
    const { answersBefore } = askedBy(request);
    const isSubAgent = request.text.includes(delegated) && !request.text.includes("You are the persona");
    const { files, delegates = false } = this.plan;
    const offered = toolNames(request.body);
    const tool = Object.keys(writers).find((name) => offered.includes(name));
    if (tool === undefined) return { text: "a title" };
    const call = (name: string, input: unknown) => ({
      text: `Step ${answersBefore + 1}.`,
      calls: [{ id: `toolu_${number}`, tool: name, input }],
    });
    if (isSubAgent) {
      if (answersBefore > 0) return { text: "My part is done." };
      return call(tool, writers[tool]?.("delegated.txt", "by the sub-agent"));
    }
    if (delegates && answersBefore === 0) {
      const input = { description: "a part", prompt: `Do ${delegated}.`, subagent_type: "general-purpose" };
      return call("Task", input);
    }
    if (answersBefore < files)
      return call(tool, writers[tool]?.(`part-${answersBefore + 1}.txt`, `part ${answersBefore + 1}`));
    return { text: 'All parts are written.\n\n```json\n{"summary": "wrote all parts"}\n```' };
  }
}

function toolNames({ tools }: Record<string, unknown>): readonly string[] {
  type Tool = {
    readonly name?: string;
    readonly function?: { readonly name: string };
    readonly functionDeclarations?: readonly { readonly name: string }[];
  };
  return ((tools ?? []) as readonly Tool[]).flatMap((tool) => [
    tool.name ?? tool.function?.name ?? "",
    ...(tool.functionDeclarations ?? []).map(({ name }) => name),
  ]);
}
