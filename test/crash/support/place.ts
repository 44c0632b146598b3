import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { ArmedFault } from "../../../src/state/fault-points.ts";
import type { Act, ActOptions } from "./act.ts";
import type { DriveOptions } from "./drive.ts";
import { readMarks } from "./effects.ts";
import { type Ended, Program } from "./program.ts";
import { type Recorded, readRecorded } from "./recorded.ts";
import type { RecoverOptions } from "./recover.ts";
import type { TeamName } from "./teams.ts";

/** What one process did, and what was on record when it was gone. */
export interface Life {
  readonly ended: Ended;
  readonly marks: readonly string[];
  readonly recorded: Recorded;
}

export type DriveChoices = Omit<DriveOptions, "stateDir" | "team" | "marks" | "door">;

/** A state directory on a real disk, and the processes that live and die in it. */
export class Place {
  readonly #folder = mkdtempSync(join(tmpdir(), "maestro-crash-"));
  readonly programs: Program[] = [];
  readonly stateDir = join(this.#folder, "state");
  readonly marksFile = join(this.#folder, "marks");
  readonly #door = join(this.#folder, "door");
  readonly lives: Life[] = [];

  get marks(): string[] {
    return readMarks(this.marksFile);
  }

  openDoor(): void {
    writeFileSync(this.#door, "");
  }

  run(file: string, options: object): Program {
    const program = new Program(file, options);
    this.programs.push(program);
    return program;
  }

  /** A process that takes up what others left of this team's sessions. */
  recover(team: TeamName, options: Pick<RecoverOptions, "leaseMs" | "laterMs"> = {}): Program {
    const world = { marks: this.marksFile, door: this.#door };
    return this.run("recover.ts", {
      stateDir: this.stateDir,
      team,
      ...world,
      ...options,
    } satisfies RecoverOptions);
  }

  /** A process that drives nothing and does one thing. */
  act(act: Act, fault: ArmedFault): Program {
    return this.run("act.ts", { stateDir: this.stateDir, act, fault } satisfies ActOptions);
  }

  /** Whether some process, dead or alive, holds a lease. */
  isDriven(): boolean {
    const database = new DatabaseSync(join(this.stateDir, "maestro.db"), { readOnly: true });
    try {
      return database.prepare("SELECT 1 FROM leases WHERE owner IS NOT NULL").get() !== undefined;
    } finally {
      database.close();
    }
  }

  loseDatabase(): void {
    for (const file of readdirSync(this.stateDir).filter((name) => name.startsWith("maestro.db")))
      rmSync(join(this.stateDir, file));
  }

  /** What is on record now, while others may be writing. */
  recorded(team: TeamName): Promise<Recorded> {
    return readRecorded(this.stateDir, team);
  }

  /** A process that starts the session of this team, or goes on with it. */
  drive(team: TeamName, options: DriveChoices = {}): Program {
    const world = { marks: this.marksFile, door: this.#door };
    return this.run("drive.ts", {
      stateDir: this.stateDir,
      team,
      ...world,
      ...options,
    } satisfies DriveOptions);
  }

  /** Waits for the end of the process and takes down what it left. */
  async afterlife(program: Program, team: TeamName): Promise<Life> {
    const ended = await program.ended;
    const before = this.lives.reduce((sum, { marks }) => sum + marks.length, 0);
    const life = { ended, marks: this.marks.slice(before), recorded: await this.#snapshot(team) };
    this.lives.push(life);
    return life;
  }

  async remove(): Promise<void> {
    for (const program of this.programs) await program.end();
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Reads a copy: opening the database itself would already mend what the next process must be able to mend. */
  async #snapshot(team: TeamName): Promise<Recorded> {
    const copy = join(this.#folder, `copy-${this.lives.length + 1}`);
    mkdirSync(copy);
    if (!existsSync(this.stateDir)) return readRecorded(copy, team);
    for (const file of readdirSync(this.stateDir).filter((name) => name.startsWith("maestro.db"))) {
      copyFileSync(join(this.stateDir, file), join(copy, file));
    }
    return readRecorded(copy, team);
  }
}
