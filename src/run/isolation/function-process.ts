import type { ChildProcess } from "node:child_process";
import type { Duplex } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { PersonaCrashed, RecoverableError } from "../../domain/errors.ts";
import type { ProcessIdentity } from "../../journal/process-identity.ts";
import { codeFile } from "../../package-files.ts";
import { processIdentity } from "../../store/owner.ts";
import { start } from "../../workspace/launch.ts";
import { signalGroup } from "../../workspace/process-end.ts";
import {
  descriptors,
  type FromChild,
  lineOf,
  MessageReader,
  type Outcome,
  outOfMemory,
  type ToChild,
} from "./protocol.ts";

/** After its exit, messages of the process may still be in the pipe. */
const drainMs = 500;
const keptStderr = 4_096;
const memoryVariable = "MAESTRO_SERVER_FUNCTION_MEMORY_MB";

/** The process of one attempt, in a group of its own: messages to it and from it, and how it ended. */
export class FunctionProcess {
  readonly #persona: string;
  readonly #memoryMb: number;
  readonly #child: ChildProcess;
  #stderr = "";
  #isOutOfMemory = false;

  constructor(persona: string, memoryMb: number) {
    this.#persona = persona;
    this.#memoryMb = memoryMb;
    this.#child = start(
      {
        file: process.execPath,
        args: [
          ...process.execArgv.filter((arg) => !arg.startsWith("--inspect")),
          `--max-old-space-size=${memoryMb}`,
          fileURLToPath(codeFile("run/isolation/child")),
          String(memoryMb),
        ],
        directory: process.cwd(),
        env: process.env as Readonly<Record<string, string>>,
        descriptors: Object.values(descriptors).map(() => undefined),
        stdout: "inherit",
      },
      undefined,
    );
  }

  get identity(): ProcessIdentity {
    return processIdentity(this.#child.pid);
  }

  /** Throws if it could not start. */
  async started(): Promise<void> {
    if (this.#child.pid !== undefined) return;
    const cause = await exitOf(this.#child);
    throw new RecoverableError(`The process of persona "${this.#persona}" could not start.`, { cause });
  }

  /** `onBroken`: it sent something that is no message. */
  listen(hear: (message: FromChild, bytes: number) => void, onBroken: (error: unknown) => void): void {
    const reader = new MessageReader<FromChild>();
    const up = this.#stream("up");
    up.on("data", (chunk: Buffer) => {
      try {
        for (const { message, bytes } of reader.read(chunk)) {
          if (up.destroyed) return;
          hear(message, bytes);
        }
      } catch (error) {
        onBroken(error);
      }
    });
    this.#stream("lifeline").on("data", (chunk: Buffer) => {
      if (chunk.toString() === outOfMemory) this.#isOutOfMemory = true;
    });
    this.#child.stderr?.on("data", (chunk: Buffer) => {
      process.stderr.write(chunk);
      this.#stderr = (this.#stderr + chunk.toString()).slice(-keptStderr);
    });
  }

  /** Reads nothing more of what the process says. */
  stopListening(): void {
    this.#stream("up").destroy();
  }

  /** `sent`: the line left the memory of this process. */
  send(message: ToChild, sent?: () => void): void {
    this.#stream("down").write(lineOf(message), sent);
  }

  /** The process blocks until it has the answer. */
  answerNow(outcome: Outcome, sent?: () => void): void {
    this.#stream("up").write(lineOf(outcome), sent);
  }

  /** With all that it started. Its pid may belong to another process once it has exited. */
  kill(): void {
    const { exitCode, signalCode } = this.#child;
    if (exitCode === null && signalCode === null) signalGroup(this.#child, "SIGKILL");
  }

  /**
   * Resolves when no process of its group is running and all that it said was heard: to the error that says how it ended.
   */
  async gone(): Promise<unknown> {
    const child = this.#child;
    const drained = Promise.all([closed(this.#stream("up")), closed(this.#stream("lifeline"))]);
    const exit = await exitOf(child);
    // Processes that it started may hold the pipes open.
    signalGroup(child, "SIGKILL");
    await Promise.race([drained, delay(drainMs)]);
    for (const stream of child.stdio) stream?.destroy();
    return this.#crash(exit);
  }

  #stream(name: keyof typeof descriptors): Duplex {
    return (this.#child.stdio as readonly unknown[])[descriptors[name]] as Duplex;
  }

  #crash(exit: Exit | Error): unknown {
    if (exit instanceof Error) return exit;
    const [persona, memoryMb] = [this.#persona, this.#memoryMb];
    if (this.#isOutOfMemory || /heap out of memory/i.test(this.#stderr))
      return new PersonaCrashed(`Persona "${persona}" used more than ${memoryMb} MiB of memory.`, {
        details: { end: { kind: "memory", memoryMb } },
        advice: `Use less memory, or raise the limit of the server: ${memoryVariable}.`,
      });
    const { code, signal } = exit;
    const how = code === null ? `signal ${signal}` : `exit code ${code}`;
    return new PersonaCrashed(`The process of persona "${persona}" ended before its function did: ${how}.`, {
      details: { end: code === null ? { kind: "signal", signal } : { kind: "exit", code } },
      advice: "Return a result or throw an error instead of ending the process.",
    });
  }
}

interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

const exitOf = (child: ChildProcess): Promise<Exit | Error> =>
  new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
    child.once("error", resolve);
  });

const closed = (stream: Duplex): Promise<void> =>
  new Promise((resolve) => {
    stream.once("close", resolve);
  });
