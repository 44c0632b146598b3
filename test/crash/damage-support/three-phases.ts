import { copyFileSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import {
  defineTeam,
  type Maestro,
  type OpenOptions,
  open,
  type PersonaContext,
  persona,
  phase,
  type SessionResult,
  type Team,
} from "../../../src/index.ts";

export const databaseFiles = ["maestro.db", "maestro.db-wal", "maestro.db-shm"] as const;

/** A session of three phases, plan, build and test, which stops before the steps of `test` as long as `paused`. */
export class ThreePhases {
  readonly stateDir: string;
  readonly notices: string[] = [];
  /** Every step whose effect ran, in order. */
  readonly ran: string[] = [];
  paused = true;
  /** Steps wait for this promise. */
  held: Promise<void> | undefined;
  id = "";
  #maestro: Maestro | undefined;

  constructor(stateDir: string) {
    this.stateDir = stateDir;
  }

  /** A new session that has finished plan and build and is paused in test. */
  static async pausedInTest(stateDir: string): Promise<ThreePhases> {
    const session = new ThreePhases(stateDir);
    await session.with(async (maestro) => {
      const started = await maestro.start(session.team, { brief: "Build it. \u00e9\ud83d\ude00", key: "k" });
      session.id = started.id;
      await started.result();
    });
    return session;
  }

  /** A copy of the session in another directory, to be damaged there. */
  copy(stateDir: string): ThreePhases {
    const copy = new ThreePhases(stateDir);
    cpSync(this.stateDir, copy.stateDir, { recursive: true });
    copy.id = this.id;
    return copy;
  }

  get folder(): string {
    return join(this.stateDir, "sessions", this.id);
  }

  file(name: string): string {
    return join(this.folder, name);
  }

  /** Name and content of every file of the session. */
  contents(): Record<string, string> {
    return Object.fromEntries(
      readdirSync(this.folder).map((name) => [name, readFileSync(this.file(name), "latin1")]),
    );
  }

  loseDatabase(): void {
    for (const name of databaseFiles) rmSync(join(this.stateDir, name), { force: true });
  }

  keepDatabaseAs(folder: string): void {
    mkdirSync(folder, { recursive: true });
    for (const name of databaseFiles) {
      const path = join(this.stateDir, name);
      if (existsSync(path)) copyFileSync(path, join(folder, name));
    }
  }

  /** Opens, acts and closes, like one process. */
  async with<T>(act: (maestro: Maestro) => Promise<T>, options: OpenOptions = {}): Promise<T> {
    this.notices.length = 0;
    const maestro = await open({
      stateDir: this.stateDir,
      teams: [this.team],
      onNotice: (notice) => this.notices.push(notice),
      ...options,
    });
    this.#maestro = maestro;
    try {
      return await act(maestro);
    } finally {
      await maestro.close();
    }
  }

  /** Opens, resumes and closes; returns the steps that ran. */
  async resume(): Promise<{ readonly result: SessionResult; readonly ran: readonly string[] }> {
    const before = this.ran.length;
    const result = await this.with(async (maestro) => (await maestro.resume(this.id)).result());
    return { result, ran: this.ran.slice(before) };
  }

  /** The error of a refused resume; checks that nothing ran. */
  async refusal(): Promise<Error & { readonly details: Readonly<Record<string, unknown>>; advice?: string }> {
    const before = this.ran.length;
    const error: unknown = await this.resume().catch((reason: unknown) => reason);
    if (!(error instanceof Error)) throw new Error(`it was resumed: ${JSON.stringify(error)}`);
    if (this.ran.length !== before) throw new Error(`steps ran: ${this.ran.slice(before).join(", ")}`);
    return error as never;
  }

  readonly #work = async ({ step, context }: PersonaContext) => {
    const { phase } = context;
    // Takes effect at the next step, which is the first one.
    if (phase === "test" && this.paused) await this.#maestro?.pause(context.sessionId);
    const results: string[] = [];
    for (const name of ["first", "second"]) {
      const ran = async () => {
        await this.held;
        this.ran.push(`${phase} ${name}`);
        return `${phase} ${name}`;
      };
      results.push(await step(name, ran));
    }
    return { summary: `${phase} is done`, outputs: { results } };
  };

  readonly team: Team = defineTeam("three-phases", {
    phases: ["plan", "build", "test"].map((name) =>
      phase(name, { personas: [persona("worker", { run: this.#work })] }),
    ),
  });
}
