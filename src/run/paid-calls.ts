import type { SessionId } from "../domain/ids.ts";
import { totalTokens } from "../domain/usage.ts";
import type { RunSample } from "../store/reports.ts";
import type { Store } from "../store/store.ts";

/** Every call of a session that is known to have cost something, in pages. */
export async function* paidCalls(store: Store, id: SessionId): AsyncGenerator<RunSample> {
  for (let after = 0; ; ) {
    const calls = await store.reports.calls(id, { after });
    if (calls.length === 0) return;
    for (const call of calls) {
      after = call.number;
      if (call.status === "open" || call.usage === null) continue;
      const { phase, persona, model, usage, costMicroUsd } = call;
      yield { phase, persona, model, spent: { tokens: totalTokens(usage), microUsd: costMicroUsd } };
    }
  }
}
