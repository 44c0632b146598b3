import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { expect } from "vitest";
import type { DriveAgentOptions } from "./drive-agent.ts";
import { Program } from "./program.ts";
import { until } from "./until.ts";

export const agentCommands = {
  claude: ["claude", "-p", "--output-format", "stream-json", "--verbose"],
  codex: ["codex", "exec", "--json"],
} as const;

/** A state directory, a folder of fake agents on the path, and a folder for their log. */
export class AgentPlace {
  readonly #folder = mkdtempSync(join(tmpdir(), "maestro-agents-"));
  readonly stateDir = join(this.#folder, "state");
  readonly #shared = join(this.#folder, "shared");
  readonly #programs: Program[] = [];
  #env: Readonly<Record<string, string>> = {};

  constructor({ turnMs = 0 } = {}) {
    mkdirSync(join(this.#folder, "bin"));
    mkdirSync(this.#shared);
    chmodSync(this.#folder, 0o755);
    chmodSync(this.#shared, 0o777);
    // Root runs each agent as another user, and they all write into one log.
    writeFileSync(join(this.#shared, "log"), "");
    chmodSync(join(this.#shared, "log"), 0o666);
    writeFileSync(join(this.#shared, "turn-ms"), String(turnMs));
    for (const name of Object.keys(agentCommands)) this.install(name);
  }

  /** The files of one finished conversation. */
  static filesOf(session: string): Record<string, string> {
    const part = (number: number) => [`part-${number}.txt`, `${number} of ${session}\n`];
    return Object.fromEntries([1, 2, 3, 4].map(part));
  }

  /** Puts the fake agent on the path under this name. */
  install(name: string): string {
    const path = join(this.#folder, "bin", name);
    copyFileSync(join(import.meta.dirname, "fake-agent.mjs"), path);
    chmodSync(path, 0o755);
    return path;
  }

  /** From now on Maestro runs its agents without a sandbox. */
  withoutSandbox(): void {
    this.#env = { MAESTRO_SANDBOX: "none" };
  }

  /** Each line: the agent, then its action. */
  log(): string[][] {
    const lines = readFileSync(join(this.#shared, "log"), "utf8").split("\n").slice(0, -1);
    return lines.map((line) => line.split(" "));
  }

  drive(argv: readonly string[]): Program {
    const options: DriveAgentOptions = { stateDir: this.stateDir, argv, shared: this.#shared };
    const program = new Program("drive-agent.ts", options, {
      ...this.#env,
      AGENT_SHARED: this.#shared,
      PATH: `${join(this.#folder, "bin")}${delimiter}${process.env["PATH"]}`,
    });
    this.#programs.push(program);
    return program;
  }

  /** Kills Maestro while its agent is held in this turn, or before its first. */
  async killWhileHeld(argv: readonly string[], where: string): Promise<void> {
    writeFileSync(join(this.#shared, `hold-${where}`), "");
    const first = this.drive(argv);
    const line = where === "start" ? "begins" : `turn ${where}`;
    await until(`the agent is at ${where}`, () =>
      this.log().some((entry) => entry.slice(1).join(" ").startsWith(line)),
    );
    if (where !== "start") await until("its session is noted", () => this.#hasNotedSession());
    first.signal("SIGKILL");
    expect((await first.ended).signal).toBe("SIGKILL");
  }

  /** Releases the held agents only when a second one has started, so that a surviving first one would be noticed. */
  async continueHeld(argv: readonly string[], where: string) {
    const second = this.drive(argv);
    await until(
      "another agent begins",
      () => this.log().filter(([, word]) => word === "begins").length === 2,
    );
    rmSync(join(this.#shared, `hold-${where}`));
    return this.#outputOf(second);
  }

  finish(argv: readonly string[]) {
    return this.#outputOf(this.drive(argv));
  }

  async remove(): Promise<void> {
    for (const program of this.#programs) await program.end();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  async #outputOf(program: Program) {
    const { code, stdout, stderr } = await program.ended;
    expect(code, stderr).toBe(0);
    return JSON.parse(stdout);
  }

  #hasNotedSession(): boolean {
    const kept = join(this.stateDir, "scratch", "kept");
    const sessions = existsSync(kept) ? readdirSync(kept) : [];
    return sessions.some((session) =>
      readdirSync(join(kept, session)).some((place) =>
        existsSync(join(kept, session, place, "session.json")),
      ),
    );
  }
}
