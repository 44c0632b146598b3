import type { Deliverable } from "../domain/contract.ts";

const line =
  /^- ([^\n:]{1,200}): ("(?:[^"\\\n]|\\.)*"(?:, "(?:[^"\\\n]|\\.)*")*) \((?:required|optional)\)$/gm;

/** Globs as JSON texts, so that no glob can pose as two. */
export const deliverableLine = ({ name, files, must }: Deliverable): string =>
  `- ${name}: ${files.map((glob) => JSON.stringify(glob)).join(", ")} (${must ? "required" : "optional"})`;

/** The globs that a prompt asks for: the simulated model has nothing else to go by. */
export function readDeliverables(prompt: string): string[] {
  return [...prompt.matchAll(line)].flatMap(([, , globs = ""]) => JSON.parse(`[${globs}]`) as string[]);
}
