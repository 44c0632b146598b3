import type { ReservationId } from "../domain/ledger.ts";
import type { LostCalls } from "../personas/function.ts";
import type { LedgerCall } from "../store/reports.ts";
import type { SessionJournal } from "../store/session-journal.ts";
import { infrastructureFailed } from "./control.ts";

/** The calls of one conversation that no record names: their driver died, or was stopped before they ended. */
export function lostCalls(
  journal: SessionJournal,
  of: { readonly phase: string; readonly persona: string; readonly started: number },
): LostCalls {
  const { lease, store } = journal;
  const isLost = (call: LedgerCall, model: string): boolean =>
    call.status === "estimated" &&
    call.step === null &&
    call.model === model &&
    call.phase === of.phase &&
    call.persona === of.persona &&
    call.started >= of.started;
  return {
    of: async (model) => {
      const found: ReservationId[] = [];
      let page: readonly LedgerCall[];
      let after: ReservationId | undefined;
      do {
        page = await store.reports
          .calls(lease.sessionId, { ...(after !== undefined && { after }), limit: 1000 })
          .catch(infrastructureFailed);
        found.push(...page.filter((call) => isLost(call, model)).map(({ reservation }) => reservation));
        after = page.at(-1)?.reservation;
      } while (page.length === 1000);
      return found;
    },
    settle: async (reservation, spent) => {
      const settlement = { reservation, spent, failed: true, found: true } as const;
      await journal.append([], { settlement }).catch(infrastructureFailed);
    },
  };
}
