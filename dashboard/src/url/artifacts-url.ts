/** The shown tree, the tree it is compared with, and the open file. */
interface ArtifactsQuery {
  readonly at: string | undefined;
  readonly with: string | undefined;
  readonly path: string | undefined;
}

const refPattern = /^(?:head|parent|phase:[^\s]{1,200}|attempt:[^\s]{1,400})$/;

export function parseArtifactsQuery(search: string): ArtifactsQuery {
  const query = new URLSearchParams(search);
  const ref = (name: string) => {
    const given = query.get(name);
    return given !== null && refPattern.test(given) ? given : undefined;
  };
  return { at: ref("at"), with: ref("with"), path: query.get("path")?.slice(0, 1000) ?? undefined };
}

export function artifactsQuery({ at, with: other, path }: ArtifactsQuery): string {
  const query = new URLSearchParams();
  if (at !== undefined) query.set("at", at);
  if (other !== undefined) query.set("with", other);
  if (path !== undefined) query.set("path", path);
  const text = query.toString();
  return text === "" ? "" : `?${text}`;
}
