import { join } from "node:path";

// A session waits for at most ten minutes; it parks for anything longer.

/** A server that waits for a breaker shortens the wait to its own setting, so the seed and the server share it. */
export const breakerCooldownMs = 1_800_000;

export const retryDelayMs = 590_000;

/** How a server is started on a seeded state directory. */
export const serverArguments: readonly string[] = [
  "delivery",
  "product",
  "docs",
  "security",
  "translation",
  "tiles",
].flatMap((name) => ["--team", join(import.meta.dirname, "teams", `${name}.ts`)]);

export const serverSettings: Readonly<Record<string, string>> = {
  MAESTRO_BREAKER_COOLDOWN_MS: String(breakerCooldownMs),
  MAESTRO_L1_BASE_DELAY_MS: String(retryDelayMs),
  MAESTRO_L1_MAX_DELAY_MS: String(retryDelayMs),
  MAESTRO_DAY_USD_BUDGET: "60",
};
