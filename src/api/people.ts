import { createHash, randomBytes } from "node:crypto";
import { didYouMean } from "../domain/closest.ts";
import { InputInvalid, SessionConflict } from "../domain/errors.ts";
import type { Access } from "../store/access.ts";
import { foldedName, isRole, roles, type User } from "../store/users.ts";

export type { Access } from "../store/access.ts";
export { type Act, isRole, mayAct, type Role, roles, type User } from "../store/users.ts";

/** The holder of the server's own token, who is an admin. No user has this name. */
export const ownerName = "owner";

/** A link is usually for a colleague of today. */
const linkDays = { least: 1 / 24, most: 30, usual: 1 };
const tokenDays = { least: 1 / 24, most: 3_650 };
const nameForm = /^[\p{L}\p{N}][\p{L}\p{N}._@-]{0,63}$/u;
const dayMs = 86_400_000;

export interface NewUser {
  readonly name: string;
  readonly role: string;
  readonly kind: User["kind"];
  /** Days until it ends. Default: a token ends when it is revoked, a link after a day. */
  readonly days?: number | undefined;
}

/** Adds a person. The secret is shown once: only its hash is stored. */
export async function addUser(
  { users }: Pick<Access, "users">,
  { name, role, kind, days }: NewUser,
  now: number,
): Promise<{ readonly user: User; readonly secret: string }> {
  checkName(name);
  if (!isRole(role))
    throw new InputInvalid(`There is no role "${role}".${didYouMean(role, roles)}`, {
      advice: `Roles: ${roles.join(", ")}.`,
    });
  const lasts = days ?? (kind === "link" ? linkDays.usual : undefined);
  checkDays(lasts, kind === "link" ? linkDays : tokenDays);
  const user: User = {
    name,
    role,
    kind,
    createdAt: now,
    ...(lasts !== undefined && { endsAt: now + Math.round(lasts * dayMs) }),
  };
  const secret = `maestro_${randomBytes(32).toString("base64url")}`;
  await revokeOver(users, name, now);
  if (await users.add(hashOf(secret), user)) return { user, secret };
  const taken = (await users.named(name))?.name ?? name;
  throw new SessionConflict(`There is already a user "${taken}".`, {
    advice: "Choose another name, or revoke the user first.",
  });
}

/** Ends the tokens, links and logins of the person at once. */
export async function revokeUser({ users }: Pick<Access, "users">, name: string): Promise<void> {
  if (await users.revoke(name)) return;
  const known = (await users.list()).map((user) => user.name);
  throw new InputInvalid(`There is no user "${name.slice(0, 100)}".${didYouMean(name, known)}`, {
    advice: known.length === 0 ? "There are no users." : `Users: ${known.join(", ")}.`,
  });
}

export const hashOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

export const isOver = ({ endsAt }: User, now: number): boolean => endsAt !== undefined && endsAt <= now;

/** A name that has ended may be used again. */
async function revokeOver(users: Access["users"], name: string, now: number): Promise<void> {
  const user = await users.named(name);
  if (user !== undefined && isOver(user, now)) await users.revoke(user.name);
}

function checkName(name: string): void {
  if (foldedName(name) === ownerName)
    throw new InputInvalid(`"${ownerName}" is the holder of the server's own token.`, {
      advice: "Choose another name.",
    });
  if (!nameForm.test(name))
    throw new InputInvalid(`"${name.slice(0, 100)}" is not a name of a user.`, {
      advice: "A name has up to 64 letters, digits, dots, hyphens, underscores and @.",
    });
}

function checkDays(days: number | undefined, { least, most }: { least: number; most: number }): void {
  if (days === undefined || (days >= least && days <= most)) return;
  throw new InputInvalid(`It cannot last ${days} days.`, { advice: `Choose up to ${most} days.` });
}
