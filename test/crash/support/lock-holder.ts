import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";

/** A process that stays inside a transaction until it gets a message. */
const { stateDir } = JSON.parse(process.argv[2] ?? "") as { stateDir: string };
const database = new DatabaseSync(join(stateDir, "maestro.db"));
database.exec("BEGIN IMMEDIATE");
// Keeps the process, and with it the lock, alive.
const alive = setInterval(() => {}, 1_000);
process.on("SIGCONT", () => {
  database.exec("COMMIT");
  database.close();
  clearInterval(alive);
  process.disconnect?.();
});
process.send?.("has the lock");
