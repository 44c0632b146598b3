import { existsSync } from "node:fs";
import { join } from "node:path";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import { TokenTracker } from "../cost/token-tracker.ts";
import type { Notify } from "../domain/advice.ts";
import { systemClock } from "../domain/clock.ts";
import { keepSecret, secretsIn } from "../domain/redact.ts";
import { budgetDefaults } from "../run/spending.ts";
import { Artifacts } from "../store/artifacts.ts";
import { LostSessions } from "../store/lost-sessions.ts";
import { openStore } from "../store/open-store.ts";
import { resolveStateDirectory } from "../store/state-directory.ts";
import { ReadonlyMaestro } from "./readonly-maestro.ts";

export { usageCsv } from "../cost/csv.ts";
export { verifyCheckpointFile } from "../store/list-checkpoints.ts";
export { type OutFolder, recallOut, rememberOut } from "../store/session-memory.ts";
export { resolveStateDirectory } from "../store/state-directory.ts";
export { refuseGitFolder } from "../workspace/git-folder.ts";
export { makeFolders } from "../workspace/make-folders.ts";
export type { ReadonlyMaestro } from "./readonly-maestro.ts";
export type { SessionQueries } from "./session-queries.ts";
export { isPacked, verifyExport } from "./verify-export.ts";

export interface OpenReadonlyOptions {
  readonly loaded?: LoadedConfig;
  readonly onNotice?: Notify;
}

/**
 * Opens a state directory for reading only. A file of its own, because the code that drives sessions takes time to
 * load.
 */
export async function openReadonly({
  loaded,
  onNotice = () => {},
}: OpenReadonlyOptions = {}): Promise<ReadonlyMaestro> {
  const { config, leftOut } = loaded ?? (await loadConfig({ onlyLooks: true }));
  const { path, notice, unwritable, isMissing } = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
    forReading: true,
  });
  for (const text of [leftOut, notice]) if (text !== undefined) onNotice(text);
  keepSecret(secretsIn(process.env));
  // Reading must create nothing: without sessions, an empty database in memory stands in.
  const isEmpty = isMissing ?? !holdsState(path);
  const store = openStore({
    directory: isEmpty ? undefined : path,
    clock: systemClock,
    leaseMs: config.leaseMs,
    isReadonly: unwritable !== undefined,
  });
  const artifacts = new Artifacts(path);
  return new ReadonlyMaestro({
    store,
    isMissing: isMissing ?? false,
    unwritable,
    onNotice,
    artifacts,
    lost: new LostSessions(path, store, artifacts, onNotice),
    stateDirectory: path,
    clock: systemClock,
    tracker: new TokenTracker(store.reports),
    budgets: budgetDefaults(config.budget),
  });
}

/** Sessions without a database are lost. Their checkpoints restore them. */
function holdsState(path: string): boolean {
  return ["maestro.db", "sessions"].some((name) => existsSync(join(path, name)));
}
