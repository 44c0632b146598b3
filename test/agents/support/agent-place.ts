import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Program } from "../../crash/support/program.ts";
import { type AgentCommand, agentBin, agentCommand, type RealAgent } from "./agent-commands.ts";
import { AgentProvider } from "./agent-provider.ts";
import type { DriveOptions } from "./drive.ts";

/** A state directory, a provider, and a real agent that asks it. */
export class RealAgentPlace {
  readonly provider: AgentProvider;
  readonly stateDir: string;
  readonly command: AgentCommand;
  readonly #folder: string;
  readonly #env: Readonly<Record<string, string>>;
  readonly #programs: Program[] = [];

  private constructor(provider: AgentProvider, agent: RealAgent, isSandboxed: boolean) {
    this.provider = provider;
    this.#folder = mkdtempSync(join(tmpdir(), "maestro-real-agents-"));
    this.stateDir = join(this.#folder, "state");
    // Root runs an agent as another user.
    chmodSync(this.#folder, 0o755);
    this.command = agentCommand(agent, provider.models);
    this.#env = {
      ...this.command.env,
      PATH: `${agentBin}${delimiter}${process.env["PATH"]}`,
      ...(!isSandboxed && { MAESTRO_SANDBOX: "none" }),
    };
  }

  static async open(agent: RealAgent, isSandboxed: boolean): Promise<RealAgentPlace> {
    return new RealAgentPlace(await AgentProvider.start(), agent, isSandboxed);
  }

  drive(persona: Partial<DriveOptions["persona"]> = {}): Program {
    const { argv, env } = this.command;
    const options = {
      stateDir: this.stateDir,
      persona: {
        instructions: "You are the persona that writes the parts.",
        command: argv,
        env: Object.keys(env),
        readable: [dirname(agentBin)],
        maxAttempts: 1,
        ...persona,
      } as DriveOptions["persona"],
    };
    const program = new Program("../../agents/support/drive.ts", options, this.#env);
    this.#programs.push(program);
    return program;
  }

  async outcome(program: Program) {
    const { code, stdout, stderr } = await program.ended;
    if (code !== 0) throw new Error(`Maestro ended with ${code}: ${stderr}`);
    return JSON.parse(stdout);
  }

  run(persona: Partial<DriveOptions["persona"]> = {}) {
    return this.outcome(this.drive(persona));
  }

  async close(): Promise<void> {
    for (const program of this.#programs) await program.end();
    await this.provider.models.close();
    rmSync(this.#folder, { recursive: true, force: true });
  }
}
