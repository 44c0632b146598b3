import type { Json } from "../../domain/json.ts";
import { noUsage, totalTokens } from "../../domain/usage.ts";
import type { LostCalls } from "../function.ts";
import { commandName } from "./agent.ts";
import { pricing, readTranscript } from "./agent-run.ts";
import { since, spentBy, useFromJson } from "./agent-use.ts";
import type { CommandPersonaPorts } from "./command-ports.ts";

/**
 * Books what runs took whose driver died: the agent's transcript has every answer that came whole. The first of them gets
 * all of it, because the transcript does not tell runs apart. A request that was under way may be billed besides. Returns
 * the tokens that it booked; undefined when there was no such run.
 */
export async function bookLostRuns(
  { argv, priceOf }: Pick<CommandPersonaPorts, "argv" | "priceOf">,
  noted: { readonly session: string; readonly used: Json; readonly home: string } | undefined,
  calls: LostCalls,
): Promise<number | undefined> {
  if (noted === undefined) return undefined;
  const [first, ...others] = await calls.of(commandName(argv));
  if (first === undefined) return undefined;
  const { used } = await readTranscript(argv, noted.home, noted.session);
  const spent = await spentBy(since(used, useFromJson(noted.used)), pricing(priceOf));
  if (spent.usage === null) return undefined;
  await calls.settle(first, spent);
  for (const call of others) await calls.settle(call, { usage: noUsage, costMicroUsd: 0 });
  return totalTokens(spent.usage);
}
