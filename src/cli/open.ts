import type { Maestro, OpenOptions } from "../api/open.ts";
import type { Looking } from "../api/open-readonly.ts";
import { loadConfig } from "../config/load.ts";
import type { Notify } from "../domain/advice.ts";
import { SessionNotFound } from "../domain/errors.ts";
import { howStarted } from "./how-started.ts";
import { sayNotice } from "./output.ts";

export interface GlobalOptions {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly model?: string;
}

/** Opens the state directory, creating it if needed, runs one operation and closes it. */
export async function withMaestro<T>(
  options: GlobalOptions,
  use: (maestro: Maestro) => Promise<T>,
  more: OpenOptions = {},
): Promise<T> {
  const loaded = more.loaded ?? (await loadFromFlags(options));
  const { open } = await import("../api/open.ts");
  const maestro = await open({ onNotice: sayNotice, program: howStarted(), ...more, loaded });
  try {
    return await use(maestro);
  } finally {
    await maestro.close();
  }
}

/** Opens the state directory for reading, without the engine: it loads in half the time and creates nothing. */
export async function withLook<T>(
  options: GlobalOptions,
  use: (looking: Looking) => Promise<T>,
  {
    onNotice = sayNotice,
    mayBeMissing = false,
  }: { readonly onNotice?: Notify; readonly mayBeMissing?: boolean } = {},
): Promise<T> {
  const { look } = await import("../api/open-readonly.ts");
  const loaded = await loadFromFlags(options);
  const looking = await look({ loaded, onNotice });
  if (looking.isMissing && !mayBeMissing && loaded.config.stateDir !== undefined)
    onNotice(`The state directory ${looking.stateDirectory} does not exist.`);
  try {
    return await use(looking);
  } finally {
    await looking.close();
  }
}

/** The path of the state directory if it does not exist. Commands about existing sessions must not create it. */
export async function missingState(options: GlobalOptions): Promise<string | undefined> {
  const { resolveStateDirectory } = await import("../api/open-readonly.ts");
  const { config } = await loadFromFlags(options);
  const found = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
    forLooking: true,
  });
  return found.isMissing ? found.path : undefined;
}

export async function requireState(options: GlobalOptions, idOrKey: string): Promise<void> {
  const missing = await missingState(options);
  if (missing === undefined) return;
  throw new SessionNotFound(
    `There is no session "${idOrKey}": the state directory ${missing} does not exist.`,
    {
      advice: "Check --state-dir and MAESTRO_STATE_DIR.",
    },
  );
}

export function loadFromFlags({ stateDir, model }: GlobalOptions) {
  const flags = { ...(stateDir !== undefined && { stateDir }), ...(model !== undefined && { model }) };
  return loadConfig({ flags });
}
