import * as is from "./schema.ts";

const leftOut = is.list(is.object({ path: is.text, reason: is.text }));

/** The repository that a session works on, as it was when the session began. */
const repositorySource = is.object({
  /** Its folder or address, as it was named. */
  git: is.text,
  ref: is.text,
  commit: is.label,
  /** The files that the session began with. */
  tree: is.sha256,
  /** Files that differed from the commit. */
  dirty: is.list(is.text),
  leftOut,
  /** Files of the tree that look like secrets: a persona sees one only if its policy names it. */
  restricted: is.optional(is.list(is.text)),
  /** Files that are in no tree: checks and setup read them from the repository. */
  checksOnly: is.optional(is.list(is.text)),
  /** The files came from the disk, and not from the commit. */
  workingTree: is.optional(is.literal(true)),
  /** `core.autocrlf` where files came from the disk: later settings of a person must not change what is delivered. */
  autocrlf: is.optional(is.literal("true", "input")),
});
export type RepositorySource = is.TypeOf<typeof repositorySource>;

/** The archive whose files a session works on. */
const uploadSource = is.object({
  upload: is.object({
    id: is.label,
    format: is.literal("zip", "tar.gz"),
    bytes: is.whole,
    sha256: is.sha256,
  }),
  tree: is.sha256,
  leftOut,
});
/** `git` tells the two apart. */
export type UploadSource = is.TypeOf<typeof uploadSource> & {
  readonly [Key in Exclude<keyof RepositorySource, "tree" | "leftOut">]?: undefined;
};

/** The files that a session began with, and where they come from. */
export type Source = RepositorySource | UploadSource;
export const source: is.Schema<Source> = is.either(uploadSource, repositorySource);
