import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import type { Program } from "./program.ts";
import { until } from "./until.ts";

/** Stops a process outside a commit: inside one it would hold the database's lock and block every other process. */
export async function stopBetweenCommits(program: Program, stateDir: string): Promise<void> {
  const database = new DatabaseSync(join(stateDir, "maestro.db"), { timeout: 0 });
  await until("it is stopped outside a commit", () => {
    program.signal("SIGSTOP");
    try {
      database.exec("BEGIN IMMEDIATE; ROLLBACK");
      return true;
    } catch {
      program.signal("SIGCONT");
      return false;
    }
  });
  database.close();
}
