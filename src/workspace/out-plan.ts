import type { Tree, TreeFile } from "../domain/tree.ts";
import { isPath, manifestName, type OutManifest } from "./out-manifest.ts";

/** What is at a path of the folder now. */
export type Found =
  | { readonly kind: "absent" }
  | { readonly kind: "file"; readonly sha256: string; readonly executable: boolean }
  /** Something we do not touch; `isBeside` when its folder is an ordinary one, so that a file may lie beside it. */
  | { readonly kind: "other"; readonly reason: string; readonly isBeside: boolean };

export type OutAction =
  /** `stay`: it is as wanted already; it may be ours or not. */
  | { readonly kind: "create" | "replace" | "stay"; readonly path: string; readonly file: TreeFile }
  | { readonly kind: "remove"; readonly path: string };

export interface Kept {
  readonly path: string;
  readonly reason: string;
  /** Where the new version is, when there is one. */
  readonly beside?: string;
}

export interface OutPlan {
  readonly actions: readonly OutAction[];
  readonly kept: readonly Kept[];
  /** For the next manifest. */
  readonly offered: ReadonlyMap<string, string>;
}

export const reservedReason = "that name is for the list of files itself";

export const besideName = (path: string): string => `${path}.maestro-new`;

/** Every path that the plan may ask about. */
export const plannedPaths = (tree: Tree, { files }: OutManifest): string[] => [
  ...new Set([...tree.keys(), ...[...tree.keys()].map(besideName), ...files.keys()]),
];

/** Decides for each file; nothing that a person made or changed is ever replaced or removed. */
export function planOut(tree: Tree, manifest: OutManifest, found: (path: string) => Found): OutPlan {
  const actions: OutAction[] = [];
  const kept: Kept[] = [];
  const offered = new Map<string, string>();
  const wanted = new Set<string>();
  const isOurs = (path: string, sha256: string): boolean =>
    manifest.files.get(path)?.includes(sha256) ?? false;

  /** Undefined when the path is somebody else's. */
  const place = (path: string, file: TreeFile): OutAction | undefined => {
    const there = found(path);
    if (there.kind === "absent") return { kind: "create", path, file };
    if (there.kind === "other") return undefined;
    const ours = isOurs(path, there.sha256);
    if (there.sha256 === file.sha256 && (!ours || there.executable === file.executable))
      return { kind: "stay", path, file };
    return ours ? { kind: "replace", path, file } : undefined;
  };

  for (const [path, file] of tree) {
    if (path === manifestName) {
      kept.push({ path, reason: reservedReason });
      continue;
    }
    const action = place(path, file);
    if (action !== undefined) {
      actions.push(action);
      wanted.add(path);
      continue;
    }
    const there = found(path);
    const reason = there.kind === "other" ? there.reason : whose(manifest, path);
    const isKnown = manifest.offered.get(path) === file.sha256 || isOurs(path, file.sha256);
    const beside = besideName(path);
    const isPossible = isPath(beside) && !tree.has(beside) && (there.kind !== "other" || there.isBeside);
    const besideAction = isPossible ? place(beside, file) : undefined;
    // What was offered before and taken away by hand is not offered again.
    const isOffered = besideAction !== undefined && !(isKnown && besideAction.kind === "create");
    if (isOffered) {
      actions.push(besideAction);
      wanted.add(beside);
    }
    if (isOffered || isKnown) offered.set(path, file.sha256);
    kept.push({ path, reason, ...(isOffered && { beside }) });
  }

  for (const path of manifest.files.keys()) {
    if (wanted.has(path) || tree.has(path)) continue;
    const there = found(path);
    if (there.kind === "file" && isOurs(path, there.sha256)) actions.push({ kind: "remove", path });
    else if (there.kind !== "absent")
      kept.push({ path, reason: "it was changed by hand and is no longer needed" });
  }
  return { actions, kept, offered };
}

const whose = (manifest: OutManifest, path: string): string =>
  manifest.files.has(path) ? "it was changed by hand" : "it was there before";
