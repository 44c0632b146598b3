import { JournalCorrupt } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { finalStatuses, sessionStatuses } from "../domain/journal.ts";
import { decodeTransition } from "../domain/journal-codec.ts";
import type { CheckpointContent } from "./checkpoint.ts";
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
      const parent = await findParent(store, id);
      if (parent !== undefined && !(await isCopied(store, id))) parents.add(parent);
    }
    if (page.length < pageSize) return parents;
    before = page.at(-1)?.id;
  }
}

/** From the first row alone: most sessions are no forks, and their history may be long. */
async function findParent(store: Store, id: SessionId): Promise<string | undefined> {
  try {
    for await (const [first] of store.readJournal(id, 0, 1)) {
      const entry = first === undefined ? undefined : decodeTransition(first);
      if (entry?.kind === "session.created") return entry.fork?.session;
      if (entry?.kind !== "session.restored") return undefined;
      const [init] = entry.checkpoints as unknown as readonly CheckpointContent[];
      return init?.session?.fork?.session;
    }
    return undefined;
  } catch (error) {
    // Damaged where it begins, it never goes on here, so it needs nothing; and it must not stand in everybody's way.
    if (JournalCorrupt.is(error)) return undefined;
    throw error;
  }
}

/** Damaged counts as not copied: better a parent too many than one too few. */
async function isCopied(store: Store, id: SessionId): Promise<boolean> {
  try {
    for await (const page of store.readJournal(id)) {
      if (page.some(({ kind }) => kind === "fork.copied")) return true;
    }
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
  }
  return false;
}
