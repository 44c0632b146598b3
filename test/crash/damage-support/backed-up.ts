import { copyFileSync, existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { defineTeam, type Maestro, open, persona, phase } from "../../../src/index.ts";
import { databaseFiles } from "./three-phases.ts";

/** A session of three phases, each with a function and a model. The database is copied in the middle of the second. */
export class BackedUp {
  readonly stateDir: string;
  /** Every step whose effect ran, in order. */
  readonly ran: string[] = [];
  readonly notices: string[] = [];
  onMiddle: (() => void) | undefined;

  constructor(stateDir: string) {
    this.stateDir = stateDir;
  }

  readonly team = defineTeam("backed-up", {
    model: "simulated",
    phases: ["plan", "build", "test"].map((name) =>
      phase(name, {
        personas: [
          persona("worker", {
            run: async ({ step, workspace }) => {
              await step("work", async () => void this.ran.push(name));
              if (name === "build") this.onMiddle?.();
              await workspace.write(`${name}.txt`, name);
              return { summary: name };
            },
          }),
          persona("writer", {
            instructions: "Write it.",
            contract: { deliverables: [`docs/${name}.md`] },
          }),
        ],
      }),
    ),
  });

  async with<T>(act: (maestro: Maestro) => Promise<T>): Promise<T> {
    const maestro = await open({
      stateDir: this.stateDir,
      teams: [this.team],
      onNotice: (notice) => this.notices.push(notice),
    });
    try {
      return await act(maestro);
    } finally {
      await maestro.close();
    }
  }
}

export function copyDatabase(from: string, to: string): void {
  for (const name of databaseFiles) {
    rmSync(join(to, name), { force: true });
    if (existsSync(join(from, name))) copyFileSync(join(from, name), join(to, name));
  }
}
