import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Program } from "../../crash/support/program.ts";
import { type AgentCommand, agentBin, agentCommand, type RealAgent } from "./agent-commands.ts";
import { AgentProvider, instructions } from "./agent-provider.ts";
import type { DriveOptions } from "./drive.ts";

const namedModels: Readonly<Record<RealAgent, string>> = {
  claude: "anthropic/claude-sonnet-4-5",
  codex: "openai/gpt-5-codex",
  gemini: "google/gemini-2.5-pro",
  opencode: "anthropic/claude-sonnet-4-5",
};

/** A state directory, a provider, and a real agent that asks it. */
export class RealAgentPlace {
  readonly provider: AgentProvider;
  readonly stateDir: string;
  readonly command: AgentCommand;
  readonly #folder: string;
  readonly #sandboxEnv: Readonly<Record<string, string>>;
  readonly #programs: Program[] = [];

  private constructor(provider: AgentProvider, agent: RealAgent, isSandboxed: boolean) {
    this.provider = provider;
    this.#folder = mkdtempSync(join(tmpdir(), "maestro-real-agents-"));
    this.stateDir = join(this.#folder, "state");
    // Root runs an agent as another user.
    chmodSync(this.#folder, 0o755);
    this.command = agentCommand(agent, provider.models);
    this.#sandboxEnv = {
      PATH: `${agentBin}${delimiter}${process.env["PATH"]}`,
      ...(!isSandboxed && { MAESTRO_SANDBOX: "none" }),
    };
  }

  /** The agent by its name, as a team may write it, without any command line. */
  driveNamed(agent: RealAgent, persona: Partial<DriveOptions["persona"]> = {}): Program {
    const { env, url } = this.provider.models;
    const more = {
      ...env,
      ...(agent === "opencode" && { ANTHROPIC_BASE_URL: `${url}/v1` }),
      GEMINI_API_KEY: env["GOOGLE_GENERATIVE_AI_API_KEY"] ?? "",
      GOOGLE_GEMINI_BASE_URL: url,
    };
    return this.#start({ agent, model: namedModels[agent], ...persona } as Partial<DriveOptions["persona"]>, {
      ...this.#sandboxEnv,
      ...more,
    });
  }

  static async open(agent: RealAgent, isSandboxed: boolean): Promise<RealAgentPlace> {
    return new RealAgentPlace(await AgentProvider.start(), agent, isSandboxed);
  }

  /** `more`: variables that the persona passes on. */
  drive(
    persona: Partial<DriveOptions["persona"]> = {},
    more: Readonly<Record<string, string>> = {},
  ): Program {
    const { argv } = this.command;
    const env = { ...this.command.env, ...more };
    return this.#start(
      { command: argv, env: Object.keys(env), ...persona } as Partial<DriveOptions["persona"]>,
      { ...this.#sandboxEnv, ...env },
    );
  }

  #start(persona: Partial<DriveOptions["persona"]>, env: Readonly<Record<string, string>>): Program {
    const options = {
      stateDir: this.stateDir,
      persona: {
        instructions,
        readable: [dirname(agentBin)],
        maxAttempts: 1,
        ...persona,
      } as DriveOptions["persona"],
    };
    const program = new Program("../../agents/support/drive.ts", options, env);
    this.#programs.push(program);
    return program;
  }

  async outcome(program: Program) {
    const { code, stdout, stderr } = await program.ended;
    if (code !== 0) throw new Error(`Maestro ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  run(persona: Partial<DriveOptions["persona"]> = {}, more: Readonly<Record<string, string>> = {}) {
    return this.outcome(this.drive(persona, more));
  }

  /** A file that is kept for the agent's next run has this name, or this text in it. */
  hasNoted(text: string): boolean {
    const kept = join(this.stateDir, "scratch", "kept");
    if (!existsSync(kept)) return false;
    const entries = readdirSync(kept, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    return entries.some(
      ({ parentPath, name }) =>
        name === text ||
        (name.endsWith(".jsonl") && readFileSync(join(parentPath, name), "utf8").includes(text)),
    );
  }

  async close(): Promise<void> {
    for (const program of this.#programs) await program.end();
    await this.provider.models.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
