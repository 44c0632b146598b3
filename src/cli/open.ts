import { loadConfig } from "../config/load.ts";
import type { Looking } from "../look.ts";
import type { Maestro, OpenOptions } from "../maestro.ts";
import { pasteable, sayWrapped } from "./output.ts";
import { plain } from "./terminal/words.ts";

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
  const loaded = more.loaded ?? (await loadFromFlags(options));
  const { open } = await import("../maestro.ts");
  const maestro = await open({ onNotice: sayPlain, ...more, loaded });
  try {
    return await use(maestro);
  } finally {
    await maestro.close();
  }
}

/** For commands that only look: without the engine, they are there in half the time. */
export async function withLook<T>(
  options: GlobalOptions,
  use: (looking: Looking) => Promise<T>,
  { onNotice = sayPlain }: { readonly onNotice?: (notice: string) => void } = {},
): Promise<T> {
  const { look } = await import("../look.ts");
  const looking = await look({ loaded: await loadFromFlags(options), onNotice });
  try {
    return await use(looking);
  } finally {
    await looking.close();
  }
}

/** Notices name files and keys, which people choose freely. */
const sayPlain = (notice: string): void => sayWrapped(pasteable(plain(notice)));

export function loadFromFlags({ stateDir, model }: GlobalOptions) {
  const flags = { ...(stateDir !== undefined && { stateDir }), ...(model !== undefined && { model }) };
  return loadConfig({ flags });
}
