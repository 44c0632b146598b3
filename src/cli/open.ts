import type { Maestro, OpenOptions } from "../api/open.ts";
import type { ReadonlyMaestro } from "../api/open-readonly.ts";
import { type LoadedConfig, loadConfig } from "../config/load.ts";
import type { Notify } from "../domain/advice.ts";
import { SessionNotFound } from "../domain/errors.ts";
import { askingForTrust } from "./ask-trust.ts";
import { howStarted } from "./how-started.ts";
import { sayNotice } from "./output.ts";
import { nameStateDir } from "./typed-command.ts";

export interface GlobalOptions {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly model?: string;
  readonly sandbox?: string;
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
export async function withReadonly<T>(
  options: GlobalOptions,
  use: (looking: ReadonlyMaestro) => Promise<T>,
  {
    onNotice = sayNotice,
    mayBeMissing = false,
    loaded: given,
  }: {
    readonly onNotice?: Notify;
    readonly mayBeMissing?: boolean;
    /** For a command that acts after it has read: both must use the same state directory. */
    readonly loaded?: LoadedConfig;
  } = {},
): Promise<T> {
  const { openReadonly } = await import("../api/open-readonly.ts");
  const loaded = given ?? (await loadForReading(options));
  const looking = await openReadonly({ loaded, onNotice });
  if (looking.isMissing && !mayBeMissing && loaded.config.stateDir !== undefined)
    onNotice(`The state directory ${looking.stateDirectory} does not exist.`);
  try {
    return await use(looking);
  } finally {
    await looking.close();
  }
}

/** The path of the state directory if it does not exist. Commands about existing sessions must not create it. */
export async function missingState(
  options: GlobalOptions,
  loaded?: LoadedConfig,
): Promise<string | undefined> {
  const { resolveStateDirectory } = await import("../api/open-readonly.ts");
  const { config, leftOut } = loaded ?? (await loadFromFlags(options));
  const found = await resolveStateDirectory({
    explicit: config.stateDir,
    env: process.env,
    forReading: true,
  });
  if (!found.isMissing) return undefined;
  if (leftOut !== undefined) sayNotice(leftOut);
  return found.path;
}

export async function requireState(
  options: GlobalOptions,
  idOrKey: string,
  loaded?: LoadedConfig,
): Promise<void> {
  const missing = await missingState(options, loaded);
  if (missing === undefined) return;
  throw new SessionNotFound(
    `There is no session "${idOrKey}": the state directory ${missing} does not exist.`,
    {
      advice: "Check --state-dir and MAESTRO_STATE_DIR.",
    },
  );
}

/** For commands that act. On a terminal, asks for the trust that the folder needs. */
export async function loadFromFlags(options: GlobalOptions): Promise<LoadedConfig> {
  const loaded = await askingForTrust(() => loadConfig({ flags: flagsIn(options) }), options);
  const { config, origins } = loaded;
  if (config.stateDir !== undefined && origins.get("stateDir")?.kind === "file")
    nameStateDir(config.stateDir);
  return loaded;
}

/** For commands that only read: they run no code of a folder, trusted or not. */
export const loadForReading = (options: GlobalOptions): Promise<LoadedConfig> =>
  loadConfig({ flags: flagsIn(options), onlyLooks: true });

const flagsIn = ({ stateDir, model, sandbox }: GlobalOptions) => ({ stateDir, model, sandbox });
