import { open } from "../../src/api/open.ts";
import type { PriceTable } from "../../src/cost/price-per-million.ts";
import type { ProviderRates } from "../../src/store/decisions/rates.ts";
import { crowdOf } from "./crowd.ts";

/** A process that drives one session of many models and prints how it ended. */
export interface DriveCrowdOptions {
  readonly stateDir: string;
  readonly key: string;
  readonly size: number;
  readonly dayTokens?: number;
  readonly dayUsd?: number;
  readonly prices?: PriceTable;
  readonly rates?: ProviderRates;
  /** The session's budget in its team. */
  readonly tokens?: number;
  readonly model: string;
  readonly env: Readonly<Record<string, string>>;
}

const options = JSON.parse(process.argv[2] ?? "") as DriveCrowdOptions;
const { stateDir, key, size, dayTokens, dayUsd, prices, rates, tokens, model, env } = options;
Object.assign(process.env, env);
const maestro = await open({
  stateDir,
  budget: { ...(dayTokens !== undefined && { dayTokens }), ...(dayUsd !== undefined && { dayUsd }) },
  ...(prices !== undefined && { prices }),
  ...(rates !== undefined && { limits: { providers: rates } }),
});
const team = crowdOf(size, tokens === undefined ? undefined : { tokens });
const session = await maestro.start(team, { brief: `Be there, ${key}.`, key, model });
const { status, reason, error } = await session.result();
console.log(JSON.stringify({ id: session.id, status, reason, error }));
await maestro.close();
