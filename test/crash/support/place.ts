import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { type BreakerRecord, newBreaker, parseBreaker } from "../../../src/domain/breaker.ts";
import { parseJson } from "../../../src/domain/json.ts";
import { parseDelivery, type TicketDelivery } from "../../../src/domain/ticket-delivery.ts";
import type { ArmedFault } from "../../../src/store/fault-points.ts";
import type { Act, ActOptions } from "./act.ts";
import type { DriveOptions } from "./drive.ts";
import { readMarks } from "./effects.ts";
import { type Ended, Program } from "./program.ts";
import { type Recorded, readRecorded } from "./recorded.ts";
import type { RecoverOptions } from "./recover.ts";
import type { TeamName } from "./teams.ts";
import type { Wish, WishOptions } from "./wish.ts";

const command = join(import.meta.dirname, "../../../bin/maestro.cjs");

/** The effects of one process, and the journal at its end. */
export interface Life {
  readonly ended: Ended;
  readonly marks: readonly string[];
  /** Attempts that started or continued in it. */
  readonly begun: readonly string[];
  readonly recorded: Recorded;
}

export type DriveChoices = Omit<DriveOptions, "stateDir" | "team" | "marks" | "runs" | "door">;
export type WishChoices = Pick<WishOptions, "isChanged" | "fault" | "killIn">;

/** A state directory on a real disk, and the processes that use it. */
export class Place {
  readonly #folder = mkdtempSync(join(tmpdir(), "maestro-crash-"));
  readonly programs: Program[] = [];
  readonly stateDir = join(this.#folder, "state");
  readonly marksFile = join(this.#folder, "marks");
  readonly runsFile = join(this.#folder, "runs");
  readonly #door = join(this.#folder, "door");
  readonly lives: Life[] = [];

  get marks(): string[] {
    return readMarks(this.marksFile);
  }

  openDoor(): void {
    writeFileSync(this.#door, "");
  }

  /** One of the programs of this folder. */
  run(file: string, options: object): Program {
    return this.#started(new Program(join(import.meta.dirname, file), [JSON.stringify(options)]));
  }

  /** The built command, as a user runs it. */
  command(args: readonly string[], env: Readonly<Record<string, string>> = {}): Program {
    return this.#started(new Program(command, [...args, "--state-dir", this.stateDir], env));
  }

  /** A process that recovers sessions of this team. */
  recover(
    team: TeamName,
    options: Pick<RecoverOptions, "leaseMs" | "laterMs" | "jira" | "isChanged"> = {},
  ): Program {
    return this.run("recover.ts", { ...this.#world, team, ...options } satisfies RecoverOptions);
  }

  /** A process that performs a person's action and prints how it ended. */
  wish(team: TeamName, wish: Wish, options: WishChoices = {}): Program {
    return this.run("wish.ts", { ...this.#world, team, wish, ...options } satisfies WishOptions);
  }

  /** A process that performs one action without driving a session. */
  act(act: Act, fault?: ArmedFault): Program {
    return this.run("act.ts", { stateDir: this.stateDir, act, fault } satisfies ActOptions);
  }

  /** Whether some process, dead or alive, holds a lease. */
  isDriven(): boolean {
    return this.#read("SELECT 1 FROM leases WHERE owner IS NOT NULL").length > 0;
  }

  /** The breaker of this dependency as it is on disk. */
  breaker(dependency: string): BreakerRecord {
    const [row] = this.#read("SELECT record FROM breakers WHERE name = ?", dependency);
    return row === undefined ? newBreaker : parseBreaker(parseJson(String(row["record"])));
  }

  /** The delivery state of each ticket, by fingerprint. */
  deliveries(): Map<string, TicketDelivery> {
    const rows = this.#read("SELECT fingerprint, delivery FROM tickets");
    const entry = (row: Record<string, unknown>) =>
      [String(row["fingerprint"]), parseDelivery(parseJson(String(row["delivery"])))] as const;
    return new Map(rows.map(entry));
  }

  isAllDelivered(): boolean {
    return [...this.deliveries().values()].every(({ kind }) => kind === "delivered");
  }

  loseDatabase(): void {
    for (const file of readdirSync(this.stateDir).filter((name) => name.startsWith("maestro.db")))
      rmSync(join(this.stateDir, file));
  }

  /** The present journal; other processes may be writing. */
  recorded(key: string): Promise<Recorded> {
    return readRecorded(this.stateDir, key);
  }

  /** A process that starts or resumes the session of this team. */
  drive(team: TeamName, options: DriveChoices = {}): Program {
    return this.run("drive.ts", { ...this.#world, team, ...options } satisfies DriveOptions);
  }

  /** Forgets the marks and processes so far. */
  forget(): void {
    this.lives.length = 0;
    for (const file of [this.marksFile, this.runsFile]) rmSync(file, { force: true });
  }

  /** Waits for the end of the process and records the session with this key as it left it. */
  async afterlife(program: Program, key: string): Promise<Life> {
    const ended = await program.ended;
    const before = this.lives.reduce((sum, { marks }) => sum + marks.length, 0);
    const begunBefore = this.lives.reduce((sum, { begun }) => sum + begun.length, 0);
    const life = {
      ended,
      marks: this.marks.slice(before),
      begun: readMarks(this.runsFile).slice(begunBefore),
      recorded: await this.#snapshot(key),
    };
    this.lives.push(life);
    return life;
  }

  async remove(): Promise<void> {
    for (const program of this.programs) await program.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  get #world() {
    return { stateDir: this.stateDir, marks: this.marksFile, runs: this.runsFile, door: this.#door };
  }

  #started(program: Program): Program {
    this.programs.push(program);
    return program;
  }

  #read(sql: string, ...values: string[]): Record<string, unknown>[] {
    const database = new DatabaseSync(join(this.stateDir, "maestro.db"), { readOnly: true });
    try {
      return database.prepare(sql).all(...values);
    } finally {
      database.close();
    }
  }

  /**
   * Reads a copy: opening the database itself would recover what the next process must recover. Another process copies
   * it: a test may have the database open, and closing a file of it would drop this process's POSIX locks on it.
   */
  async #snapshot(key: string): Promise<Recorded> {
    const files = () =>
      existsSync(this.stateDir)
        ? readdirSync(this.stateDir).filter((name) => name.startsWith("maestro.db"))
        : [];
    for (;;) {
      const copy = mkdtempSync(join(this.#folder, "copy-"));
      const listed = files();
      try {
        if (listed.length > 0)
          await promisify(execFile)("cp", [...listed.map((name) => join(this.stateDir, name)), copy]);
        return readRecorded(copy, key);
      } catch (error) {
        // A process that closes the database removes its log, between the listing and the copy.
        if (listed.join() === files().join()) throw error;
      }
    }
  }
}
