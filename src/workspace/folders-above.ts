/** "a/b/c" lies in "a" and in "a/b". */
export const foldersAbove = (path: string): string[] =>
  path
    .split("/")
    .slice(0, -1)
    .map((_, index, names) => names.slice(0, index + 1).join("/"));
