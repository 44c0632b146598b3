import type { Blobs } from "../../store/blobs.ts";
import type { Team } from "../../team/define.ts";
import { givenFilesOf } from "../../team/definition/given-files-of.ts";

/** Keeps the skills and texts that the team names; their hashes. A team that a session recorded has kept its own. */
export async function keepGivenFiles({ definition, contents }: Team, artifacts: Blobs): Promise<string[]> {
  const kept = new Set<string>();
  for (const { sha256 } of givenFilesOf(definition)) {
    const content = contents?.get(sha256);
    if (content !== undefined && !kept.has(sha256)) kept.add(await artifacts.put(content));
  }
  return [...kept];
}
