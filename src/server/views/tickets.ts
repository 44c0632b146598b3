import type { Maestro } from "../../api/open.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import type { TicketsView } from "../schemas/server.ts";

/** Newest first. */
export async function ticketsView(maestro: Maestro): Promise<TicketsView> {
  const records = await maestro.ticketRecords();
  const ids = [...new Set(records.map(({ ticket }) => ticket.sessionId as SessionId))];
  const keys = new Map<string, string | null>(
    (await maestro.listed(ids)).map(({ id, key }) => [id, key ?? null]),
  );
  return {
    tickets: records.map(({ ticket, delivery }) => ({
      id: ticket.id,
      fingerprint: ticket.fingerprint,
      summary: ticket.summary,
      sessionId: ticket.sessionId,
      sessionKey: keys.get(ticket.sessionId) ?? null,
      status: delivery.kind,
      key: delivery.kind === "delivered" ? delivery.reference.key : null,
      url: delivery.kind === "delivered" ? delivery.reference.url : null,
      createdAt: isoTime(ticket.createdAt),
      deliveredAt: isoTimeOrNull(delivery.kind === "delivered" ? delivery.at : null),
      notBefore: isoTimeOrNull(delivery.kind === "pending" ? delivery.notBefore : null),
      lastError: delivery.kind === "delivered" ? null : (delivery.lastError ?? null),
      failures: delivery.kind === "delivered" ? 0 : delivery.failures,
    })),
  };
}
