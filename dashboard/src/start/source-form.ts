import { client } from "../api/client.ts";
import type { StartRequest } from "../api/types.ts";

export const sourceKinds = ["none", "repository", "upload", "given"] as const;
export type SourceKind = (typeof sourceKinds)[number];

/** The fields about files, as typed and picked. Fields of other kinds are kept but not sent. */
export interface SourceForm {
  readonly kind: SourceKind;
  readonly git: string;
  readonly ref: string;
  readonly archive: File | undefined;
  readonly phase: string;
  readonly files: readonly File[];
}

export const emptySource: SourceForm = {
  kind: "none",
  git: "",
  ref: "",
  archive: undefined,
  phase: "",
  files: [],
};

/** A request with these files must stay below the body limit. */
const mostGivenBytes = 5_000_000;

/** The problems that can be found without a server, by field. */
export function checkSource({ kind, git, archive, phase, files }: SourceForm): Map<string, string> {
  const wrong = new Map<string, string>();
  if (kind === "repository" && git.trim() === "") wrong.set("source.git", "Name the folder of a repository.");
  if (kind === "upload" && archive === undefined) wrong.set("upload", "Choose a tar.gz or zip.");
  if (kind !== "given") return wrong;
  if (phase === "") wrong.set("given.phase", "Choose the phase that made them.");
  if (files.length === 0) wrong.set("given", "Choose its files.");
  else if (files.reduce((sum, file) => sum + file.size, 0) > mostGivenBytes)
    wrong.set("given", "At most 5 MB together. Send more as an archive.");
  return wrong;
}

/** The part of the request about files. An archive is uploaded first, because the request needs its id. */
export async function sourceRequest(
  form: SourceForm,
): Promise<Pick<StartRequest, "source" | "upload" | "given">> {
  const { kind, git, ref, archive, phase, files } = form;
  if (kind === "repository")
    return { source: { git: git.trim(), ...(ref.trim() !== "" && { ref: ref.trim() }) } };
  if (kind === "upload" && archive !== undefined) return { upload: (await client.upload(archive)).id };
  if (kind !== "given") return {};
  const contents = await Promise.all(
    files.map(async (file) => [file.name, { base64: toBase64(await file.arrayBuffer()) }] as const),
  );
  return { given: { [phase]: { files: Object.fromEntries(contents) } } };
}

const chunkBytes = 0x8000;

function toBase64(buffer: ArrayBuffer): string {
  const bytes = new Uint8Array(buffer);
  let text = "";
  for (let at = 0; at < bytes.length; at += chunkBytes)
    text += String.fromCharCode(...bytes.subarray(at, at + chunkBytes));
  return btoa(text);
}
