import { loadConfig } from "../config/load.ts";
import { type Maestro, type OpenOptions, open } from "../maestro.ts";

export interface GlobalOptions {
  readonly stateDir?: string;
  readonly json?: boolean;
  readonly model?: string;
}

/** Opens the state directory the flags ask for, does one thing, and closes it whatever happens. */
export async function withMaestro<T>(
  options: GlobalOptions,
  use: (maestro: Maestro) => Promise<T>,
  more: OpenOptions = {},
): Promise<T> {
  const loaded = await loadFromFlags(options);
  const maestro = await open({ loaded, onNotice: (notice) => process.stderr.write(`${notice}\n`), ...more });
  try {
    return await use(maestro);
  } finally {
    await maestro.close();
  }
}

export function loadFromFlags({ stateDir, model }: GlobalOptions) {
  const flags = { ...(stateDir !== undefined && { stateDir }), ...(model !== undefined && { model }) };
  return loadConfig({ flags });
}
