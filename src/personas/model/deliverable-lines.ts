import type { Deliverable } from "../../domain/contract.ts";
import { readNamedFiles } from "../../workspace/named-files.ts";

const line =
  /^- ([^\n:]{1,200}): ("(?:[^"\\\n]|\\.)*"(?:, "(?:[^"\\\n]|\\.)*")*)(?: except [^\n]*)? \((?:required|optional)\)$/gm;

/** Globs as JSON texts, so that no glob can pose as two. */
export function deliverableLine({ name, files, must }: Deliverable): string {
  const { globs, except } = readNamedFiles(files);
  const listed = (all: readonly string[]) => all.map((glob) => JSON.stringify(glob)).join(", ");
  const leftOut = except.length === 0 ? "" : ` except ${listed(except)}`;
  return `- ${name}: ${listed(globs)}${leftOut} (${must ? "required" : "optional"})`;
}

/** The globs that a prompt asks for: the simulated model has nothing else to go by. */
export function readDeliverables(prompt: string): string[] {
  return [...prompt.matchAll(line)].flatMap(([, , globs = ""]) => JSON.parse(`[${globs}]`) as string[]);
}
