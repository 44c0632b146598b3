import { Link } from "wouter";
import type { ChangedFile } from "../api/types.ts";
import { bytes } from "../format/count.ts";
import { oneLine } from "../format/plain-text.ts";
import { useScene } from "../session/context.ts";
import { Icon } from "../ui/icons.tsx";
import { sessionAddress } from "../url/session-url.ts";

export function FilesTab({ files }: { readonly files: readonly ChangedFile[] }) {
  const { name } = useScene();
  if (files.length === 0) return <p className="ink-2">No files yet.</p>;
  return (
    <ul className="file-list">
      {files.map(({ path, after, bytes: size }) => (
        <li key={path}>
          <Icon name="file" size={13} />
          {after === null ? (
            <span className="mono one-line outside removed-file">{oneLine(path)}</span>
          ) : (
            <Link
              href={sessionAddress(name, "artifacts", `?path=${encodeURIComponent(path)}`)}
              className="mono one-line outside"
            >
              {oneLine(path)}
            </Link>
          )}
          <span className="spring" />
          <span className="ink-3">{after === null ? "removed" : bytes(size)}</span>
        </li>
      ))}
    </ul>
  );
}
