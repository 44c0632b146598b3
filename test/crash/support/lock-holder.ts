import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A process in the middle of a commit, until it is woken up. */
const { stateDir } = JSON.parse(process.argv[2] ?? "") as { stateDir: string };
const database = new DatabaseSync(join(stateDir, "maestro.db"));
database.exec("BEGIN IMMEDIATE");
process.on("SIGCONT", () => {
  database.exec("COMMIT");
  database.close();
  process.disconnect?.();
});
process.send?.("has the lock");
