import * as is from "./schema.ts";

const leftOut = is.list(is.object({ path: is.text, reason: is.text }));

/** The repository that a session works on, at the start of the session. */
const repositorySource = is.object({
  /** Its folder or address, as given. */
  git: is.text,
  ref: is.text,
  commit: is.label,
  /** The session's initial files. */
  tree: is.sha256,
  /** Files that differed from the commit. */
  dirty: is.list(is.text),
  leftOut,
  /** Files of the tree that look like secrets. A persona sees one only if its policy names it. */
  restricted: is.optional(is.list(is.text)),
  /** Files that are in no tree. Checks and setup read them from the repository. */
  checksOnly: is.optional(is.list(is.text)),
  /** The files came from the disk instead of the commit. */
  workingTree: is.optional(is.literal(true)),
  /** `core.autocrlf`, if the files came from the disk: a later change of this setting must not change the delivery. */
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
/** `git` distinguishes the two. */
export type UploadSource = is.TypeOf<typeof uploadSource> & {
  readonly [Key in Exclude<keyof RepositorySource, "tree" | "leftOut">]?: undefined;
};

/** The session's initial files and their origin. */
export type Source = RepositorySource | UploadSource;
export const source: is.Schema<Source> = is.either(uploadSource, repositorySource);
