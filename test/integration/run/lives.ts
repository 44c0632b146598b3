import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";
import { ManualClock } from "../../../src/domain/manual-clock.ts";
import {
  defineTeam,
  type Maestro,
  type OpenOptions,
  open,
  type PersonaFunction,
  persona,
  phase,
  type SessionEvent,
  type SessionResult,
  type SessionView,
} from "../../../src/index.ts";

const patienceMs = 86_400_000;
const longestWaitMs = 3 * 3_600_000;

/** One session of one persona through several lives of its process, on a clock that is moved by hand. */
export class Lives {
  readonly clock = new ManualClock();
  readonly stateDir = mkdtempSync(join(tmpdir(), "maestro-lives-"));
  readonly events: SessionEvent[] = [];
  /** Effects that really ran, over all lives. */
  readonly ran: string[] = [];
  /** How far the clock went in the last life. */
  waitedMs = 0;
  /** Called with every row, right after its commit and before any code acts on it. */
  onEvent: (event: SessionEvent) => void = () => {};
  /** Which session lives. */
  key = "key";
  /** Time stands still until then. */
  begun: Promise<void> = Promise.resolve();
  #maestro: Maestro | undefined;
  #closing: Promise<void> | undefined;

  constructor() {
    onTestFinished(() => rmSync(this.stateDir, { recursive: true, force: true }));
  }

  /** A step's effect that leaves its mark. */
  effect<T>(label: string, result: T): () => T {
    return () => {
      this.ran.push(label);
      return result;
    };
  }

  /** From within the persona: the process is going to end, no further step begins. */
  end(): void {
    this.#closing ??= this.#maestro?.close();
  }

  /** Opens, starts or resumes, moves the clock whenever code waits for it, and closes. */
  async live(
    run: PersonaFunction,
    options: OpenOptions = {},
    of: { readonly maxAttempts?: number } = {},
  ): Promise<SessionResult> {
    const team = defineTeam("team", {
      phases: [phase("work", { personas: [persona("worker", { ...of, run })] })],
    });
    const maestro = await this.#open({ teams: [team], ...options });
    const before = this.clock.now();
    try {
      const session = await maestro.start(team, { brief: "Work.", key: this.key });
      return await this.#whileTimePasses(session.result());
    } finally {
      this.waitedMs = this.clock.now() - before;
      await (this.#closing ?? maestro.close());
    }
  }

  async show(): Promise<SessionView> {
    const maestro = await this.#open({});
    try {
      return await maestro.show(this.key);
    } finally {
      await maestro.close();
    }
  }

  /** All rows of this kind since the beginning. */
  rows(kind: SessionEvent["kind"]): SessionEvent[] {
    return this.events.filter((event) => event.kind === kind);
  }

  async #open(options: OpenOptions): Promise<Maestro> {
    const { stateDir, clock } = this;
    this.#closing = undefined;
    const onEvent = (event: SessionEvent) => {
      this.events.push(event);
      this.onEvent(event);
    };
    const attempts = { timeoutMs: patienceMs, ...options.attempts };
    this.#maestro = await open({ stateDir, clock, onEvent, ...options, attempts });
    return this.#maestro;
  }

  async #whileTimePasses<T>(work: Promise<T>): Promise<T> {
    const ended = new AbortController();
    const end = () => ended.abort();
    work.then(end, end);
    await this.begun;
    while (!ended.signal.aborted) {
      const dueMs = this.clock.nextDueInMs() ?? 0;
      // Later timers only watch for attempts without progress, and no code waits for them.
      await this.clock.advance(dueMs <= longestWaitMs ? dueMs : 0);
    }
    return work;
  }
}
