import { SessionCanceled, SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import type { SessionRecord, Store } from "../store/store.ts";

/** A session that somebody may drive. */
export async function requireSession(store: Store, id: SessionId): Promise<SessionRecord> {
  const session = await store.findSession(id);
  if (session === undefined)
    throw new SessionNotFound(`There is no session ${id}.`, { details: { session: id } });
  if (session.status === "canceled") throw canceled(id);
  return session;
}

export function canceled(id: SessionId): SessionCanceled {
  return new SessionCanceled(`Session ${id} was canceled; that is final.`, {
    details: { session: id },
    advice: "Start a new session, or fork this one.",
  });
}
