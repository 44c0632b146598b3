import type { Maestro } from "../../api/open.ts";
import { changesBetween, emptyTree, type Tree } from "../../domain/tree.ts";
import type { ChangedFile } from "../schemas/values.ts";

const mostFiles = 2_000;

/** The files that differ between two trees. The page counts lines when it shows a difference. */
export async function changedFiles(
  maestro: Maestro,
  id: string,
  trees: { readonly before: string | undefined; readonly after: string | undefined },
): Promise<ChangedFile[]> {
  const load = async (tree: string | undefined): Promise<Tree> =>
    tree === undefined ? emptyTree : maestro.files(id, tree);
  const [before, after] = [await load(trees.before), await load(trees.after)];
  return changesBetween(before, after)
    .slice(0, mostFiles)
    .map(({ path, after: file }) => ({
      path,
      before: before.get(path)?.sha256 ?? null,
      after: file?.sha256 ?? null,
      bytes: file?.bytes ?? 0,
    }));
}
