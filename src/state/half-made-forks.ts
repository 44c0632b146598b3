import type { SessionId } from "../domain/ids.ts";
import { finalStatuses, sessionStatuses, type Transition } from "../domain/journal.ts";
import { decodeTransition } from "../domain/journal-codec.ts";
import { readState } from "./session-journal.ts";
import type { Store } from "./store.ts";

const pageSize = 500;
const unfinished = sessionStatuses.filter((status) => !finalStatuses.includes(status));

/** Sessions that a fork has still to copy from, because whoever made it died before it stood on its own. */
export async function findParentsInUse(store: Store): Promise<ReadonlySet<string>> {
  const parents = new Set<string>();
  for (let before: SessionId | undefined; ; ) {
    const page = await store.listSessions({
      statuses: unfinished,
      limit: pageSize,
      ...(before && { before }),
    });
    for (const { id } of page) {
      const fork = (await readCreated(store, id))?.fork;
      if (fork !== undefined && !(await readState(store, id)).copied) parents.add(fork.session);
    }
    if (page.length < pageSize) return parents;
    before = page.at(-1)?.id;
  }
}

/** The first row alone: most sessions are no forks, and their history may be long. */
async function readCreated(
  store: Store,
  id: SessionId,
): Promise<Extract<Transition, { kind: "session.created" }> | undefined> {
  for await (const [first] of store.readJournal(id)) {
    const entry = first === undefined ? undefined : decodeTransition(first);
    return entry?.kind === "session.created" ? entry : undefined;
  }
  return undefined;
}
