import * as is from "./schema.ts";

/** Identifies a process beyond its pid, which may be reused, so that its death can be proved. */
export const processIdentity = is.object({
  machine: is.text,
  boot: is.text,
  pidNamespace: is.text,
  pid: is.whole,
  started: is.text,
});
export type ProcessIdentity = is.TypeOf<typeof processIdentity>;
