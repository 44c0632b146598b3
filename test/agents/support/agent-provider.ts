import type { ModelTurn, ModelTurnUsage } from "../../support/loopback-model-turn.ts";
import { LoopbackModels, type ModelRequest, type Reaction } from "../../support/loopback-models.ts";

/** The tool that writes a file, by its name in each agent. */
const writers: Readonly<Record<string, (path: string, content: string) => unknown>> = {
  Write: (path, content) => ({ file_path: path, content }),
  exec_command: (path, content) => ({ cmd: `printf '%s' '${content}' > ${path}` }),
  write_file: (path, content) => ({ file_path: path, content }),
  write: (path, content) => ({ filePath: path, content }),
};

/** The persona's instructions. A request without them is a sub-agent's, or asks for a title. */
export const instructions = "You are the persona that writes the parts.";
const delegated = "Do the part that was delegated to you.";

interface Plan {
  /** Files that the agent writes, one in each answer, before it ends. */
  readonly files: number;
  /** Claude gives its first file to a sub-agent. */
  readonly delegates?: boolean;
  /** The object that it ends with. */
  readonly lastWord?: object;
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
    const { files, delegates = false, lastWord = { summary: "wrote all parts" } } = this.plan;
    const offered = toolNames(request.body);
    const tool = Object.keys(writers).find((name) => offered.includes(name));
    if (tool === undefined) return { text: "a title" };
    const call = (name: string, input: unknown) => ({
      text: "The next step.",
      calls: [{ id: `toolu_${number}`, tool: name, input }],
    });
    const write = (path: string, content: string) => call(tool, writers[tool]?.(path, content));
    const hasSaid = (text: string): boolean => request.text.includes(text);
    if (!hasSaid(instructions))
      return hasSaid("delegated.txt")
        ? { text: "My part is done." }
        : write("delegated.txt", "by the sub-agent");
    if (delegates && !hasSaid(delegated)) {
      const input = { description: "a part", prompt: delegated, subagent_type: "general-purpose" };
      return call("Task", input);
    }
    // By what the conversation shows: agents add answers of their own when they resume.
    const next = Array.from({ length: files }, (_, index) => index + 1).find(
      (part) => !hasSaid(`part-${part}.txt`),
    );
    if (next !== undefined) return write(`part-${next}.txt`, `part ${next}`);
    return { text: `All parts are written.\n\n\`\`\`json\n${JSON.stringify(lastWord)}\n\`\`\`` };
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
