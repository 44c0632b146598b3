/** What a person may do. Each role may do what the ones before it may. */
export const roles = ["viewer", "operator", "admin"] as const;
export type Role = (typeof roles)[number];

export const isRole = (text: string): text is Role => (roles as readonly string[]).includes(text);

export const mayAct = (role: Role, needed: Role): boolean => roles.indexOf(role) >= roles.indexOf(needed);

/** A person with a token or a link of their own. */
export interface User {
  readonly name: string;
  readonly role: Role;
  /** `link`: it signs a browser in once. */
  readonly kind: "token" | "link";
  readonly createdAt: number;
  /** When the token or link, and the logins made with it, end. */
  readonly endsAt?: number;
}

/** Two names that look alike are one: they must not differ in case or in the form of their letters alone. */
export const foldedName = (name: string): string => name.normalize("NFKC").toLowerCase();

/** Users, keyed by name, whatever its case. Their secrets are stored as hashes. */
export interface Users {
  /** False if the name exists. */
  add(hash: string, user: User): Promise<boolean>;
  /** Includes users that have ended. The caller decides. */
  find(hash: string): Promise<User | undefined>;
  named(name: string): Promise<User | undefined>;
  /** Ordered by name. */
  list(): Promise<readonly User[]>;
  /** Makes a link unusable and returns its user. Undefined if it was used before. */
  redeem(hash: string): Promise<User | undefined>;
  /** Ends the user and every login of that name. False if there was none. */
  revoke(name: string): Promise<boolean>;
}

/** An act of a person on the server. */
export interface Act {
  readonly at: number;
  readonly person: string;
  readonly role: Role;
  /** The id of the operation, such as "approveSession". */
  readonly operation: string;
  /** What it was about: the id or key of a session, the name of a breaker or user. */
  readonly subject?: string;
  readonly status: number;
  readonly request: string;
}

/** The oldest are forgotten. */
export const mostActs = 100_000;

export interface AuditTrail {
  add(act: Act): Promise<void>;
  /** The newest first. */
  list(query: { readonly limit: number; readonly person?: string | undefined }): Promise<readonly Act[]>;
}
