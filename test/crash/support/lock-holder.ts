import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A process in the middle of a commit, until it is woken up. */
const { stateDir } = JSON.parse(process.argv[2] ?? "") as { stateDir: string };
const database = new DatabaseSync(join(stateDir, "maestro.db"));
database.exec("BEGIN IMMEDIATE");
// Nothing else would keep the process, and the lock, alive.
const alive = setInterval(() => {}, 1_000);
process.on("SIGCONT", () => {
  database.exec("COMMIT");
  database.close();
  clearInterval(alive);
  process.disconnect?.();
});
process.send?.("has the lock");
