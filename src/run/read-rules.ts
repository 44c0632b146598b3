import { showPath } from "../domain/tree-path.ts";
import type { Source } from "../journal/journal.ts";
import { isPattern } from "../team/definition/is-pattern.ts";
import type { PolicyDefinition } from "../team/definition/team-definition.ts";
import { namedMatcher } from "../workspace/named-files.ts";
import { foldersAbove } from "../workspace/open-folder.ts";

/** Why a persona may neither see nor write a path; undefined when it may. */
export type WhyHidden = (path: string) => string | undefined;

/** Paths that a policy names without wildcards. Only such a name lets a file in that looks like a secret. */
export const namedInFull = ({ read }: Pick<PolicyDefinition, "read">): readonly string[] =>
  (read ?? []).filter((file) => !isPattern(file));

/** Undefined when nothing of the session's files is hidden from the persona. */
export function hiddenFrom(
  policy: Pick<PolicyDefinition, "read">,
  source: Pick<Source, "restricted"> | undefined,
): WhyHidden | undefined {
  const named = namedInFull(policy);
  const restricted = new Set((source?.restricted ?? []).filter((path) => !named.includes(path)));
  if (policy.read === null && restricted.size === 0) return undefined;
  const mayRead = policy.read === null ? () => true : namedMatcher(policy.read);
  return (path) => {
    if (restricted.has(path)) return "it holds secrets, and the policy of this persona does not name it";
    return mayRead(path) ? undefined : "the policy of this persona does not let it read the file";
  };
}

/**
 * The same for paths that the session itself does not have: they are in the repository, and stay as they are there. A file in
 * the place of their folder, or below one of them, would remove them.
 */
export function keptHome(source: Pick<Source, "leftOut" | "checksOnly"> | undefined): WhyHidden {
  const home = new Map(source?.leftOut.map(({ path, reason }) => [path, reason]));
  // Some of them are not tracked, and so not left out.
  for (const path of source?.checksOnly ?? []) home.set(path, "only checks get it");
  const folders = new Map([...home.keys()].flatMap((path) => foldersAbove(path).map((name) => [name, path])));
  return (path) => {
    const [kept] = [path, ...foldersAbove(path), folders.get(path)].filter(
      (each) => each !== undefined && home.has(each),
    );
    if (kept === undefined) return undefined;
    const what = kept === path ? "it" : `it is in the place of ${showPath(kept)}, which`;
    return `${what} was left out of the session: ${home.get(kept)}`;
  };
}
