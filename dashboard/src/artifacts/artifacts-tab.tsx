import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";
import { useLocation, useSearch } from "wouter";
import { archivePath } from "../api/client.ts";
import { treeQuery } from "../api/queries.ts";
import type { ArtifactTree, TreeRef } from "../api/types.ts";
import { counted } from "../format/count.ts";
import { clock } from "../format/time.ts";
import { useScene } from "../session/context.ts";
import { Icon } from "../ui/icons.tsx";
import { Loaded } from "../ui/loading.tsx";
import { artifactsQuery, parseArtifactsQuery } from "../url/artifacts-url.ts";
import { sessionAddress } from "../url/session-url.ts";
import { compareTrees } from "./compare-trees.ts";
import { FilePane } from "./file-pane.tsx";
import { FileTree } from "./tree-view.tsx";

const ChangePane = lazy(() => import("./change-pane.tsx"));

export default function ArtifactsTab() {
  const { view } = useScene();
  const search = useSearch();
  const { at } = parseArtifactsQuery(search);
  const tree = useQuery(treeQuery(view.id, at));
  return (
    <Loaded query={tree} failed="Could not read the files." rows={8}>
      {(data) => <Artifacts tree={data} />}
    </Loaded>
  );
}

function Artifacts({ tree }: { readonly tree: ArtifactTree }) {
  const { view, name } = useScene();
  const search = useSearch();
  const [, navigate] = useLocation();
  const query = parseArtifactsQuery(search);
  const go = (part: Partial<typeof query>) =>
    navigate(sessionAddress(name, "artifacts", artifactsQuery({ ...query, ...part })), { replace: true });
  const other = useQuery({ ...treeQuery(view.id, query.with), enabled: query.with !== undefined });
  const comparing = query.with !== undefined && other.data !== undefined && !other.isPlaceholderData;
  const changes = useMemo(
    () => (comparing ? compareTrees(other.data?.files ?? [], tree.files) : []),
    [comparing, other.data, tree.files],
  );
  const files = comparing ? changes : tree.files;
  const path = query.path ?? files[0]?.path;
  const change = changes.find((each) => each.path === path);
  const file = tree.files.find((each) => each.path === path);
  if (tree.files.length === 0) return <p className="page-part ink-2">No files yet.</p>;
  return (
    <div className="artifacts">
      <div className="artifacts-side">
        <div className="tree-pickers">
          <TreePicker
            label="Show"
            trees={tree.trees}
            value={tree.ref}
            onPick={(at) => go({ at: at === "head" ? undefined : at })}
          />
          <TreePicker
            label="Compare with"
            none="nothing"
            trees={tree.trees.filter(({ ref }) => ref !== tree.ref)}
            value={query.with ?? ""}
            onPick={(ref) => go({ with: ref === "" ? undefined : ref, path: undefined })}
          />
        </div>
        {tree.ref === "parent" ? null : (
          <p className="tree-downloads">
            {(["zip", "tar.gz"] as const).map((format) => (
              <a key={format} className="button small" href={archivePath(view.id, format, tree.ref)} download>
                <Icon name="download" size={13} />
                {format}
              </a>
            ))}
          </p>
        )}
        <p className="tree-count ink-3">
          {comparing ? `${counted(changes.length, "file")} differ` : counted(tree.files.length, "file")}
        </p>
        <FileTree files={files} selected={path} onSelect={(next) => go({ path: next })} />
      </div>
      <div className="artifacts-main">
        {comparing && change !== undefined ? (
          <Suspense>
            <ChangePane key={`${change.path} ${query.with}`} change={change} />
          </Suspense>
        ) : file !== undefined && !comparing ? (
          <FilePane key={file.sha256} file={file} />
        ) : (
          <p className="page-part ink-2">
            {comparing ? "Nothing differs." : "This file is not in the tree shown."}
          </p>
        )}
      </div>
    </div>
  );
}

interface PickerProps {
  readonly label: string;
  readonly trees: readonly TreeRef[];
  readonly value: string;
  readonly none?: string;
  readonly onPick: (ref: string) => void;
}

const kindNames: Readonly<Record<TreeRef["kind"], string>> = {
  head: "Now",
  phase: "Phases",
  revision: "Revisions",
  attempt: "Attempts",
  parent: "Fork parent",
};

function TreePicker({ label, trees, value, none, onPick }: PickerProps) {
  const groups = Map.groupBy(trees, ({ kind }) => kind);
  return (
    <label className="tree-picker">
      <span className="ink-3">{label}</span>
      <select className="field quiet-field" value={value} onChange={(event) => onPick(event.target.value)}>
        {none === undefined ? null : <option value="">{none}</option>}
        {[...groups].map(([kind, members]) => (
          <optgroup key={kind} label={kindNames[kind]}>
            {members.map(({ ref, label: name, at }) => (
              <option key={ref} value={ref}>
                {at === null ? name : `${name}, ${clock(Date.parse(at))}`}
              </option>
            ))}
          </optgroup>
        ))}
      </select>
    </label>
  );
}
