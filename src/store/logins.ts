/** A signed-in browser and its person. */
export interface Login {
  readonly name: string;
  readonly role: string;
  /** Hash of the user's token or link. Missing: the holder of the server's own token. A name may be given again. */
  readonly user?: string;
  readonly createdAt: number;
  readonly usedAt: number;
  /** Extended by use, up to a final moment. The server decides both. */
  readonly expiresAt: number;
}

/** Logins, keyed by the hash of the browser's secret, so that reading the store does not allow signing in. */
export interface Logins {
  /**
   * Durable when it returns. False if its user is gone. Also deletes logins that expired before this one was
   * created.
   */
  add(hash: string, login: Login): Promise<boolean>;
  /** Includes expired logins. The caller decides. */
  find(hash: string): Promise<Login | undefined>;
  /** Does not revive an ended login: a sign-out is final. */
  renew(hash: string, times: Pick<Login, "usedAt" | "expiresAt">): Promise<void>;
  /** False if there was none. */
  end(hash: string): Promise<boolean>;
}
