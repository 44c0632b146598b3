/** `required`: checks and agents start in a sandbox or not at all. `none`: they run as our own user, on all its files. */
export type SandboxRule = "required" | "none";

/**
 * The user of a command in the sandbox. `other-user`: we are root, and it is a user that owns nothing else. `user-namespace`:
 * our own user, without rights over anything outside. `same-user`: our own user, where the system allows no more.
 */
export type SandboxIdentity = "other-user" | "user-namespace" | "same-user";

export interface Bubblewrap {
  readonly kind: "bubblewrap";
  readonly version: string;
  readonly program: string;
  readonly identity: SandboxIdentity;
  /** Limits memory, processes and file size; missing when it is not installed, and then nothing is limited. */
  readonly prlimit: string | undefined;
  readonly setpriv: string | undefined;
}

/** Commands run as our own user, on all of the machine's files; only their processes are kept together. */
export interface NoSandbox {
  readonly kind: "none";
  readonly reason: string;
  /** What is missing, which decides the advice. */
  readonly lacks: "platform" | "program" | "rights";
  /** The trial ran out of time or could not be made: a busy machine, perhaps. */
  readonly isUncertain?: true;
}

export type Sandbox = Bubblewrap | NoSandbox;
