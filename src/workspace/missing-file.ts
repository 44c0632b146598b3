import { didYouMean } from "../domain/closest.ts";
import { InputInvalid } from "../domain/errors.ts";
import type { Tree } from "../domain/tree.ts";
import { foldPath, showPath } from "../domain/tree-path.ts";

/** Each costs a comparison letter by letter. */
const maxCandidates = 300;
const maxLengthDifference = 4;

/** There is no such file: it says what there is in its place. */
export function missingFile(path: string, tree: Tree): InputInvalid {
  const inside = filesInside(path, tree);
  if (inside.length > 0) {
    return new InputInvalid(`${showPath(path)} is a folder.`, {
      advice: `Name a file in it: ${inside.map(showPath).join(", ")}.`,
      details: { path },
    });
  }
  return new InputInvalid(`There is no file ${showPath(path)}.${suggestion(path, tree)}`, {
    advice: tree.size === 0 ? "The workspace has no files yet." : "List the files to see their paths.",
    details: { path },
  });
}

function filesInside(path: string, tree: Tree): string[] {
  const found: string[] = [];
  for (const file of tree.keys()) if (file.startsWith(`${path}/`) && found.push(file) === 3) break;
  return found;
}

/** The only file of that name is meant, however far away it is; otherwise the path with the fewest typos. */
function suggestion(path: string, tree: Tree): string {
  const wanted = foldPath(path);
  const named: string[] = [];
  const near: string[] = [];
  const others: string[] = [];
  for (const file of tree.keys()) {
    const folded = foldPath(file);
    if (nameOf(folded) === nameOf(wanted)) named.push(file);
    else if (folderOf(folded) === folderOf(wanted)) near.push(file);
    else if (Math.abs(file.length - path.length) <= maxLengthDifference) others.push(file);
  }
  if (named.length === 1) return ` Did you mean ${showPath(named[0] ?? "")}?`;
  return didYouMean(path, [...named, ...near, ...others].slice(0, maxCandidates));
}

const nameOf = (path: string): string => path.slice(path.lastIndexOf("/") + 1);
const folderOf = (path: string): string => path.slice(0, path.lastIndexOf("/") + 1);
