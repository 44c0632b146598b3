import { type ChildProcess, fork } from "node:child_process";
import { resolve } from "node:path";

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A real process. Only ever signals the process it started. */
export class Program {
  readonly pid: number;
  readonly ended: Promise<Ended>;
  readonly #child: ChildProcess;
  #isReady = false;
  #stdout = "";
  #stderr = "";

  /** A list is the command line; anything else is passed as JSON to a program of this folder. */
  constructor(path: string, options: object, env: Readonly<Record<string, string>> = {}) {
    const args = Array.isArray(options) ? (options as readonly string[]) : [JSON.stringify(options)];
    // Without vitest's flags and variables, like a user's process.
    this.#child = fork(resolve(import.meta.dirname, path), args, {
      silent: true,
      execArgv: [],
      env: { ...plainEnvironment(), ...env },
    });
    this.pid = this.#child.pid as number;
    this.#child.once("message", () => {
      this.#isReady = true;
    });
    this.#child.stdout?.on("data", (chunk) => {
      this.#stdout += chunk;
    });
    this.#child.stderr?.on("data", (chunk) => {
      this.#stderr += chunk;
    });
    this.ended = new Promise((resolve, reject) => {
      this.#child.once("error", reject);
      this.#child.once("close", (code, signal) =>
        resolve({ code, signal, stdout: this.#stdout, stderr: this.#stderr }),
      );
    });
  }

  /** It has sent its first message. */
  get isReady(): boolean {
    return this.#isReady;
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  signal(signal: NodeJS.Signals): void {
    if (this.isAlive) process.kill(this.pid, signal);
  }

  /** Sends a request over the channel and waits for the answer. */
  ask<Answer>(question: object): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const onExit = () => reject(new Error(`process ${this.pid} ended without an answer: ${this.#stderr}`));
      this.#child.once("exit", onExit);
      this.#child.once("message", (answer) => {
        this.#child.off("exit", onExit);
        resolve(answer as Answer);
      });
      this.#child.send(question);
    });
  }

  async end(): Promise<void> {
    this.signal("SIGKILL");
    await this.ended;
  }
}

function plainEnvironment(): NodeJS.ProcessEnv {
  const { NODE_OPTIONS: _, ...environment } = process.env;
  return environment;
}
