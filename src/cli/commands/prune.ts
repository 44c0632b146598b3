import { type GlobalOptions, withMaestro } from "../open.ts";
import { print, printJson } from "../output.ts";
import { readCount, readNumber } from "../read-flags.ts";
import { count } from "../terminal/words.ts";

const dayMs = 86_400_000;

interface PruneOptions extends GlobalOptions {
  readonly olderThan: string;
  readonly keep?: string;
  readonly dryRun?: boolean;
}

export async function prune(options: PruneOptions): Promise<void> {
  const policy = {
    olderThanMs: readNumber("--older-than", options.olderThan) * dayMs,
    dryRun: options.dryRun ?? false,
    ...(options.keep !== undefined && { keep: readCount("--keep", options.keep) }),
  };
  const pruned = await withMaestro(options, (maestro) => maestro.prune(policy));
  if (options.json) return printJson({ ...pruned, dryRun: policy.dryRun });
  print(
    `${policy.dryRun ? "Would remove" : "Removed"} ${count(pruned.sessions.length, "finished session")} and ${count(pruned.artifacts, "artifact")} nobody points to.`,
  );
}
