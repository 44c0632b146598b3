import type { GithubPlace } from "../../domain/delivery-order.ts";
import { LeaseHeld } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { refuseOlderDatabase } from "../../store/newer-work.ts";
import { readState } from "../../store/session-journal.ts";
import type { OpenState } from "../drive.ts";
import { type OrderedDelivery, type Performed, performOrder } from "./perform-order.ts";
import { refuseUntrustedState } from "./trust.ts";

/** Delivers the work so far by a person's command. The delivery of a completed session is recorded. */
export async function deliverNow(
  id: SessionId,
  order: OrderedDelivery,
  services: OpenState & { readonly github: GithubPlace },
): Promise<Performed> {
  const { store } = services;
  const state = await readState(store, id);
  refuseUntrustedState(state);
  const performed = await performOrder(state, order, services, (_, error) => {
    throw error;
  });
  const { delivered, tickets } = performed;
  if (state.standing.status === "completed" && (await record(id, performed, services))) return performed;
  for (const ticket of tickets) await store.tickets.raise(ticket);
  return { delivered, tickets };
}

/** False while another process holds the session. */
async function record(
  id: SessionId,
  { delivered, tickets }: Performed,
  { store, stateDirectory }: OpenState,
): Promise<boolean> {
  await refuseOlderDatabase(id, { store, stateDirectory });
  try {
    const { lease } = await store.claimSession(id, "signal");
    try {
      const row = { kind: "session.delivered", ...delivered } as const;
      await store.append(lease, [row], tickets.length > 0 ? { tickets } : {});
      return true;
    } finally {
      await store.releaseSession(lease);
    }
  } catch (error) {
    if (!LeaseHeld.is(error)) throw error;
    return false;
  }
}
