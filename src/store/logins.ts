/** A browser that is signed in, and as which person. */
export interface Login {
  readonly name: string;
  readonly role: string;
  readonly createdAt: number;
  readonly usedAt: number;
  /** Moves with its use, up to its last moment; the server decides both. */
  readonly expiresAt: number;
}

/** Logins by the hash of the secret that the browser holds, so that no reader of the store can sign in. */
export interface Logins {
  /** Durable when it returns. Also forgets those that expired before it was created. */
  add(hash: string, login: Login): Promise<void>;
  /** Expired ones too: the reader decides. */
  find(hash: string): Promise<Login | undefined>;
  /** Does nothing to a login that has ended: a sign-out is final. */
  renew(hash: string, times: Pick<Login, "usedAt" | "expiresAt">): Promise<void>;
  /** False when there was none. */
  end(hash: string): Promise<boolean>;
}
