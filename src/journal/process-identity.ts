import * as is from "./schema.ts";

/** A process, told apart from every other that ever had its pid: enough to prove that it is dead. */
export const processIdentity = is.object({
  machine: is.text,
  boot: is.text,
  pidNamespace: is.text,
  pid: is.whole,
  started: is.text,
});
export type ProcessIdentity = is.TypeOf<typeof processIdentity>;
