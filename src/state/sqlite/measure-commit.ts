import { channel } from "node:diagnostics_channel";
import { type CommitMeasured, commitChannel } from "../../domain/channels.ts";

const commits = channel(commitChannel);

/** Says how long a write that just began takes, to whoever listens. */
export function measureCommit<T>(verb: string, write: Promise<T>): Promise<T> {
  return commits.hasSubscribers ? measured(verb, write) : write;
}

async function measured<T>(verb: string, write: Promise<T>): Promise<T> {
  const startedMs = performance.now();
  try {
    return await write;
  } finally {
    commits.publish({ verb, durationMs: performance.now() - startedMs } satisfies CommitMeasured);
  }
}
