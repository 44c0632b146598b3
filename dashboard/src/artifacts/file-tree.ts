/** A line of the drawn tree: folders and files, flat, with depth. */
interface TreeLine<File> {
  readonly path: string;
  readonly name: string;
  readonly depth: number;
  /** Missing for folders. */
  readonly file?: File;
}

interface Folder<File> {
  readonly folders: Map<string, Folder<File>>;
  readonly files: { readonly name: string; readonly file: File }[];
}

const emptyFolder = <File>(): Folder<File> => ({ folders: new Map(), files: [] });

/** Folders before files, each by name. Folders that contain only one folder share its line. */
export function treeLines<File extends { readonly path: string }>(
  files: readonly File[],
  closed: ReadonlySet<string>,
): TreeLine<File>[] {
  const root = emptyFolder<File>();
  for (const file of files) {
    const parts = file.path.split("/");
    const name = parts.pop() ?? file.path;
    let folder = root;
    for (const part of parts) {
      let next = folder.folders.get(part);
      if (next === undefined) {
        next = emptyFolder<File>();
        folder.folders.set(part, next);
      }
      folder = next;
    }
    folder.files.push({ name, file });
  }
  const lines: TreeLine<File>[] = [];
  draw(root, "", 0);
  return lines;

  function draw(folder: Folder<File>, prefix: string, depth: number): void {
    for (const [first, inner] of [...folder.folders].sort(byFirst)) {
      let [name, current] = [first, inner];
      while (current.files.length === 0 && current.folders.size === 1) {
        const [only] = [...current.folders];
        if (only === undefined) break;
        name = `${name}/${only[0]}`;
        current = only[1];
      }
      const path = `${prefix}${name}`;
      lines.push({ path, name, depth });
      if (!closed.has(path)) draw(current, `${path}/`, depth + 1);
    }
    for (const { name, file } of [...folder.files].sort((a, b) => (a.name < b.name ? -1 : 1)))
      lines.push({ path: file.path, name, depth, file });
  }
}

const byFirst = ([a]: readonly [string, unknown], [b]: readonly [string, unknown]): number =>
  a < b ? -1 : 1;
