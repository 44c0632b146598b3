import { chmodSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { Program } from "../../crash/support/program.ts";
import { type AgentCommand, agentBin, agentCommand, type RealAgent } from "./agent-commands.ts";
import { AgentProvider, instructions } from "./agent-provider.ts";
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

  /** `more`: variables that the persona passes on. */
  drive(
    persona: Partial<DriveOptions["persona"]> = {},
    more: Readonly<Record<string, string>> = {},
  ): Program {
    const { argv } = this.command;
    const env = { ...this.command.env, ...more };
    const options = {
      stateDir: this.stateDir,
      persona: {
        instructions,
        command: argv,
        env: Object.keys(env),
        readable: [dirname(agentBin)],
        maxAttempts: 1,
        ...persona,
      } as DriveOptions["persona"],
    };
    const program = new Program("../../agents/support/drive.ts", options, { ...this.#env, ...more });
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
