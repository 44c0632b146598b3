import { oneLine } from "../format/plain-text.ts";

const mostCharacters = 500;

/** A path on one line. The folder shrinks before the name, and nothing changes its order. */
export function FilePath({ path }: { readonly path: string }) {
  const text = oneLine(path, mostCharacters);
  const at = text.lastIndexOf("/", text.length - 2) + 1;
  return (
    <span className="file-path mono outside" dir="ltr" title={text}>
      {at === 0 ? null : <span className="file-folder">{text.slice(0, at)}</span>}
      <span className="file-name">{text.slice(at)}</span>
    </span>
  );
}
