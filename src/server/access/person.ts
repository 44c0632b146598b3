import { ownerName, type Role } from "../../api/people.ts";

/** The person whose token or login a request has. */
export interface Person {
  readonly name: string;
  readonly role: Role;
  /** The hash of the token or login, which may end. Undefined for the token of the server. */
  readonly proof: string | undefined;
  /** The hash of the user's token or link: a name may be revoked and given again. Undefined for the owner. */
  readonly user: string | undefined;
}

/** The holder of the server's own token. */
export const owner: Person = { name: ownerName, role: "admin", proof: undefined, user: undefined };

/** Whom a code or a link signs in. */
export type SignedIn = Pick<Person, "name" | "role" | "user">;
