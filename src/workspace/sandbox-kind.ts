/** `required`: checks and agents start only in a sandbox. `none`: they run as our own user, on all its files. */
export type SandboxRule = "required" | "none";

/**
 * The user of a command in the sandbox. `other-user`: Maestro is root, and this user owns nothing else.
 * `user-namespace`: our own user, without permissions outside. `same-user`: our own user, if the system allows no
 * more.
 */
export type SandboxIdentity = "other-user" | "user-namespace" | "same-user";

export interface Bubblewrap {
  readonly kind: "bubblewrap";
  readonly version: string;
  readonly program: string;
  readonly identity: SandboxIdentity;
  /** Limits memory, processes and file size. Missing if it is not installed, and then nothing is limited. */
  readonly prlimit: string | undefined;
  readonly setpriv: string | undefined;
}

/** Commands run as our own user, on all its files. Only their processes are kept together. */
export interface NoSandbox {
  readonly kind: "none";
  readonly reason: string;
  /** The missing part, which decides the advice. */
  readonly lacks: "platform" | "program" | "rights";
  /** The test ran out of time or could not be made, perhaps on a busy machine. */
  readonly isUncertain?: true;
}

export type Sandbox = Bubblewrap | NoSandbox;
