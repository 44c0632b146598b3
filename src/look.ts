import { join } from "node:path";
import { type LoadedConfig, loadConfig } from "./config/load.ts";
import { TokenTracker } from "./cost/token-tracker.ts";
import { systemClock } from "./domain/clock.ts";
import { Looking } from "./hive/looking.ts";
import { Artifacts } from "./state/artifacts.ts";
import { LostSessions } from "./state/lost-sessions.ts";
import { SqliteStore } from "./state/sqlite/sqlite-store.ts";
import { resolveStateDirectory } from "./state/state-directory.ts";
import { budgetDefaults } from "./team/spending.ts";

export { usageCsv } from "./cost/csv.ts";
export { isPacked, verifyExport } from "./hive/carry.ts";
export type { Looking } from "./hive/looking.ts";
export type { Reading } from "./hive/reading.ts";
export { verifyCheckpointFile } from "./state/list-checkpoints.ts";
export { type OutFolder, recallOut, rememberOut } from "./state/out-memory.ts";
export { resolveStateDirectory } from "./state/state-directory.ts";
export { makeFolders } from "./workspace/make-folders.ts";

export interface LookOptions {
  readonly loaded?: LoadedConfig;
  readonly onNotice?: (notice: string) => void;
}

/** Opens a state directory for looking alone. Its own file, because all that drives sessions takes time to load. */
export async function look({ loaded, onNotice = () => {} }: LookOptions = {}): Promise<Looking> {
  const { config, warnings } = loaded ?? (await loadConfig());
  const { path, notice, unwritable } = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
    forLooking: true,
  });
  for (const text of [...warnings, ...(notice === undefined ? [] : [notice])]) onNotice(text);
  const store = new SqliteStore({
    path: join(path, "maestro.db"),
    clock: systemClock,
    leaseMs: config.leaseMs,
    onlyLooks: unwritable !== undefined,
  });
  return new Looking({
    store,
    unwritable,
    onNotice,
    artifacts: new Artifacts(path),
    lost: new LostSessions(path, store, onNotice),
    stateDirectory: path,
    clock: systemClock,
    tracker: new TokenTracker(store.ledger),
    budgets: budgetDefaults(config.budget),
  });
}
