import { addUser, isOver, type NewUser, revokeUser, type User } from "../../api/people.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import { type GlobalOptions, loadFromFlags, withMaestro, withReadonly } from "../open.ts";
import { print, printJson, printTable, say, sayCommand } from "../output.ts";
import { readNumber } from "../read-flags.ts";
import { plain } from "../terminal/format.ts";

export interface UserFlags extends GlobalOptions {
  readonly role?: string;
  readonly days?: string;
  readonly link?: boolean;
}

export async function listUsers(options: GlobalOptions): Promise<void> {
  const users = await withReadonly(options, (maestro) => maestro.access.users.list());
  if (options.json) return printJson(users.map(asJson));
  if (users.length === 0) {
    say("There are no users. The token of the server is that of an admin.");
    return sayCommand("To add one", options.stateDir, "users", "add", "<name>", "--role", "viewer");
  }
  printTable(
    [{ head: "name" }, { head: "role" }, { head: "has" }, { head: "added" }, { head: "ends" }],
    users.map((user) => [user.name, user.role, `a ${user.kind}`, isoTime(user.createdAt), endOf(user)]),
  );
}

/** The secret is the only line on standard output, for scripts. */
export async function addOneUser(name: string, options: UserFlags): Promise<void> {
  const loaded = await loadFromFlags(options);
  const { user, secret } = await withMaestro(
    options,
    (maestro) => addUser(maestro.access, newUser(name, options), Date.now()),
    { loaded },
  );
  if (user.kind === "token") {
    if (options.json) return printJson({ ...asJson(user), token: secret });
    say(`The token of ${user.name}, who is ${user.role}. It is not shown again.`);
    return print(secret);
  }
  const { publicUrl, host, port } = loaded.config.server;
  const url = `${publicUrl ?? `http://${host}:${port}`}/login?code=${secret}`;
  if (options.json) return printJson({ ...asJson(user), url });
  say(`The link of ${user.name}, who is ${user.role}. It works once, and ends at ${endOf(user)}.`);
  print(url);
}

export async function revokeOneUser(name: string, options: GlobalOptions): Promise<void> {
  await withMaestro(options, (maestro) => revokeUser(maestro.access, name));
  if (options.json) return printJson({ name, revoked: true });
  print(plain(`${name} can no longer use the server.`));
}

function newUser(name: string, { role, days, link }: UserFlags): NewUser {
  if (role === undefined)
    throw new InputInvalid("A user needs a role.", {
      advice:
        "Use --role viewer (looks), operator (starts, approves, helps) or admin (users and breakers too).",
    });
  return {
    name,
    role,
    kind: link === true ? "link" : "token",
    days: days === undefined ? undefined : readNumber("--days", days),
  };
}

const asJson = ({ name, role, kind, createdAt, endsAt }: User) => ({
  name,
  role,
  kind,
  createdAt: isoTime(createdAt),
  endsAt: isoTimeOrNull(endsAt),
});

function endOf(user: User): string {
  if (user.endsAt === undefined) return "when it is revoked";
  return isOver(user, Date.now()) ? "it has ended" : isoTime(user.endsAt);
}
