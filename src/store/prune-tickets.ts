import { isSessionId } from "../domain/ids.ts";
import { findUnknown } from "./reports.ts";
import type { Store } from "./store.ts";
import type { TicketRecord } from "./ticket-store.ts";

const pageSize = 500;

export interface TicketRetention {
  readonly store: Store;
  /** Sessions that this prune removes. */
  readonly sessions: readonly string[];
  /** Tickets without a session go if they were delivered before this time. */
  readonly before: number | undefined;
  readonly dryRun: boolean;
  /** Removes the file of a ticket, if it has one. */
  readonly removeFile: (fingerprint: string) => Promise<void>;
}

/**
 * Removes delivered tickets that are no longer needed and returns their number. A ticket stays as long as its
 * session: if the problem recurs, it must find the ticket instead of creating a second one.
 */
export async function pruneTickets(parts: TicketRetention): Promise<number> {
  const { store, dryRun, removeFile } = parts;
  let removed = 0;
  for (let after = ""; ; ) {
    const page = await store.tickets.listDelivered({ after, limit: pageSize });
    const gone = await unneeded(page, parts);
    if (!dryRun && gone.length > 0) {
      // Remove the file first: without the row, no later prune would find it.
      for (const { ticket } of gone) await removeFile(ticket.fingerprint);
      await store.tickets.forget(gone.map(({ ticket }) => ticket.id));
    }
    removed += gone.length;
    const last = page.at(-1);
    if (last === undefined) return removed;
    after = last.ticket.id;
  }
}

async function unneeded(
  page: readonly TicketRecord[],
  { store, sessions, before }: TicketRetention,
): Promise<readonly TicketRecord[]> {
  const ofSessions = page.map(({ ticket }) => ticket.sessionId).filter(isSessionId);
  const gone = new Set<string>([...sessions, ...(await findUnknown(store.reports, ofSessions))]);
  // An outage that still lasts would raise its ticket again.
  const broken = new Set(
    (await store.breakers.list()).flatMap(({ dependency, record }) =>
      record.state.kind === "closed" ? [] : [dependency],
    ),
  );
  return page.filter(({ ticket, delivery }) => {
    if (delivery.kind !== "delivered") return false;
    if (isSessionId(ticket.sessionId)) return gone.has(ticket.sessionId);
    return before !== undefined && delivery.at < before && !broken.has(ticket.persona);
  });
}
