import { foldPath } from "./tree-path.ts";

/** Two paths that cannot be in one tree: `other` is the file or folder that is there already. */
export interface PathClash {
  /** `case`: the same but for case or Unicode form, which many disks take for one. */
  readonly kind: "case" | "file-folder";
  readonly other: string;
}

interface Entry {
  readonly spelling: string;
  readonly isFile: boolean;
  /** How many files it is or holds. */
  files: number;
}

/** The files and folders of a tree, to see in a moment what a new path would clash with. */
export class PathIndex {
  readonly #entries = new Map<string, Entry>();

  constructor(paths: Iterable<string> = []) {
    for (const path of paths) this.add(path);
  }

  clash(path: string): PathClash | undefined {
    for (const [key, spelling] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) return undefined;
      if (entry.spelling !== spelling) return { kind: "case", other: entry.spelling };
      if (entry.isFile !== (spelling === path)) return { kind: "file-folder", other: entry.spelling };
    }
    return undefined;
  }

  /** Only a path that does not clash and is not there yet. */
  add(path: string): void {
    for (const [key, spelling] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) this.#entries.set(key, { spelling, isFile: spelling === path, files: 1 });
      else entry.files += 1;
    }
  }

  /** Only a path that is there. */
  remove(path: string): void {
    for (const [key] of ancestry(path)) {
      const entry = this.#entries.get(key);
      if (entry === undefined) continue;
      entry.files -= 1;
      if (entry.files === 0) this.#entries.delete(key);
    }
  }
}

/** The folders of a path from the outermost on, and the path itself: folded, and as it is spelled. */
function ancestry(path: string): (readonly [key: string, spelling: string])[] {
  const folded = foldPath(path);
  const found: (readonly [string, string])[] = [];
  let [at, foldedAt] = [0, 0];
  for (;;) {
    at = path.indexOf("/", at);
    foldedAt = folded.indexOf("/", foldedAt);
    if (at === -1) break;
    found.push([folded.slice(0, foldedAt), path.slice(0, at)]);
    at += 1;
    foldedAt += 1;
  }
  found.push([folded, path]);
  return found;
}
