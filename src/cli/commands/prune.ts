import { InputInvalid } from "../../domain/errors.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { print, printJson } from "../output.ts";

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
    ...(options.keep !== undefined && { keep: readNumber("--keep", options.keep) }),
  };
  const pruned = await withMaestro(options, (maestro) => maestro.prune(policy));
  if (options.json) return printJson({ ...pruned, dryRun: policy.dryRun });
  print(
    `${policy.dryRun ? "Would remove" : "Removed"} ${pruned.sessions.length} finished sessions and ${pruned.artifacts} artifacts nobody points to.`,
  );
}

function readNumber(flag: string, text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && Number.isFinite(number) && number >= 0) return number;
  throw new InputInvalid(`${flag} is "${text}"; it must be a number, 0 or more.`);
}
