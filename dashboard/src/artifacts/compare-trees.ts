import type { ArtifactTree } from "../api/types.ts";

type TreeFile = ArtifactTree["files"][number];

export interface TreeChange {
  readonly path: string;
  readonly kind: "added" | "removed" | "changed";
  readonly before: TreeFile | undefined;
  readonly after: TreeFile | undefined;
}

/** The differences of two trees, by path. */
export function compareTrees(before: readonly TreeFile[], after: readonly TreeFile[]): TreeChange[] {
  const old = new Map(before.map((file) => [file.path, file]));
  const now = new Map(after.map((file) => [file.path, file]));
  const paths = [...new Set([...old.keys(), ...now.keys()])].sort();
  return paths.flatMap((path): TreeChange[] => {
    const [was, is] = [old.get(path), now.get(path)];
    if (was?.sha256 === is?.sha256) return [];
    const kind = was === undefined ? "added" : is === undefined ? "removed" : "changed";
    return [{ path, kind, before: was, after: is }];
  });
}
