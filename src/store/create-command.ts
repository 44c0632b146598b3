import { defaultQueue } from "../domain/queue.ts";
import { encodeEntry } from "../journal/journal-codec.ts";
import type { Command } from "./command.ts";
import type { NewSession } from "./journal.ts";

/** `at`: the time of the rows that are appended now. */
export function createCommand(
  { artifacts = [], artifactsOf, copied = [], appended = [], usage = [], ...given }: NewSession,
  at: number,
): Extract<Command, { verb: "create" }> {
  const { id, key, team, teamFingerprint, identity, wakeAt, created } = given;
  return {
    verb: "create",
    session: {
      id,
      key: key ?? null,
      team,
      teamFingerprint,
      identity,
      at: given.createdAt ?? at,
      wakeAt: wakeAt ?? null,
      model: created.model ?? null,
      queue: created.queue ?? defaultQueue,
      priority: created.priority ?? 0,
    },
    row: encodeEntry(created),
    copied,
    appended: appended.map(encodeEntry),
    at,
    artifacts,
    artifactsOf,
    usage,
    isClaimed: given.isClaimed,
  };
}
