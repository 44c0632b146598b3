import type { Maestro } from "../../../src/api/open.ts";
import type { ArtifactView } from "../../../src/journal/view.ts";
import { clockAhead } from "./later.ts";
import { open } from "./package.ts";

/** A killed probe and a posted ticket belong to their process for about a minute. */
export const minutesLater = { laterMs: 120_000 };

/** Opens the state directory without driving a session. */
export async function asOnlooker<T>(
  { stateDir }: { readonly stateDir: string },
  look: (maestro: Maestro) => Promise<T>,
  { laterMs } = minutesLater,
): Promise<T> {
  const maestro = await open({ stateDir, clock: clockAhead(laterMs) });
  try {
    return await look(maestro);
  } finally {
    await maestro.close();
  }
}

/** The files of a session, each with its hash and its persona. */
export function filesLeft(
  place: { readonly stateDir: string },
  key: string,
): Promise<readonly ArtifactView[]> {
  return asOnlooker(place, async (maestro) => (await maestro.show(key)).artifacts);
}
