import * as is from "./schema.ts";

/** The completed and failed parts of a delivery. */
export const delivered = is.object({
  branch: is.optional(is.text),
  commits: is.optional(is.list(is.label)),
  /** The remote that the branch was pushed to. */
  remote: is.optional(is.text),
  /** The fingerprint of the request in the outbox. */
  pullRequest: is.optional(is.label),
  patch: is.optional(is.text),
  /** The number of repository files changed in place. */
  applied: is.optional(is.object({ written: is.whole, removed: is.whole })),
  failures: is.optional(
    is.list(
      is.object({
        part: is.literal("branch", "push", "pullRequest", "patch", "apply"),
        message: is.text,
        command: is.list(is.text),
      }),
    ),
  ),
});
export type Delivered = is.TypeOf<typeof delivered>;
