import { channel } from "node:diagnostics_channel";
import { type CommitMeasured, commitChannel } from "../../domain/channels.ts";

const commits = channel(commitChannel);

/** Says how long a write took, to whoever listens. */
export async function measureCommit<T>(verb: string, write: () => Promise<T>): Promise<T> {
  if (!commits.hasSubscribers) return write();
  const startedMs = performance.now();
  try {
    return await write();
  } finally {
    commits.publish({ verb, durationMs: performance.now() - startedMs } satisfies CommitMeasured);
  }
}
