import { StateUnavailable } from "../../domain/errors.ts";
import {
  type GlobalOptions,
  loadFromFlags,
  missingState,
  requireState,
  withMaestro,
  withReadonly,
} from "../open.ts";
import { print, printJson } from "../output.ts";
import { readCount, readNumber } from "../read-flags.ts";
import { count } from "../terminal/format.ts";

const dayMs = 86_400_000;

interface PruneOptions extends GlobalOptions {
  readonly olderThan: string;
  readonly keep?: string;
  readonly dryRun?: boolean;
  /** Id or key. */
  readonly damaged?: string;
}

export async function prune(options: PruneOptions): Promise<void> {
  const policy = {
    olderThanMs: readNumber("--older-than", options.olderThan) * dayMs,
    dryRun: options.dryRun ?? false,
    ...(options.damaged !== undefined && { damaged: options.damaged }),
    ...(options.keep !== undefined && { keep: readCount("--keep", options.keep) }),
  };
  if ((await missingState(options)) !== undefined) {
    if (options.damaged !== undefined) return requireState(options, options.damaged);
    const nothing = {
      sessions: [],
      artifacts: 0,
      tickets: 0,
      repositories: 0,
      uploads: 0,
      dryRun: policy.dryRun,
    };
    return options.json ? printJson(nothing) : print("There is nothing to remove.");
  }
  const act = () => withMaestro(options, (maestro) => maestro.prune(policy));
  const pruned = await act().catch(async (error: unknown) => {
    if (!isFull(error) || policy.dryRun) throw error;
    // Removing unreferenced artifacts needs no space and may free enough for the rest of prune.
    const loaded = await loadFromFlags(options);
    const artifacts = await withReadonly(options, (maestro) => maestro.removeUnneeded(), { loaded });
    if (artifacts === 0) throw error;
    const rest = await act();
    return { ...rest, artifacts: artifacts + rest.artifacts };
  });
  if (options.json) return printJson({ ...pruned, dryRun: policy.dryRun });
  if (options.damaged !== undefined) return print(`Removed session ${pruned.sessions.join()} and its files.`);
  if (policy.dryRun) for (const id of pruned.sessions) print(`Session ${id}`);
  const also = [
    ...(pruned.tickets === 0 ? [] : [count(pruned.tickets, "delivered ticket")]),
    ...(pruned.repositories === 0
      ? []
      : [count(pruned.repositories, "fetched repository", "fetched repositories")]),
    ...(pruned.uploads === 0 ? [] : [count(pruned.uploads, "expired upload")]),
    ...(pruned.layers === 0 ? [] : [`${count(pruned.layers, "set")} of installed dependencies`]),
  ].map((part) => `, and ${part}`);
  print(
    `${policy.dryRun ? "Would remove" : "Removed"} ${count(pruned.sessions.length, "finished session")} and ${count(pruned.artifacts, "unreferenced artifact")}${also.join("")}.`,
  );
}

function isFull(error: unknown): boolean {
  return StateUnavailable.is(error) && ["ENOSPC", "EDQUOT"].includes(String(error.details["code"]));
}
