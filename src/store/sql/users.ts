import type { Submit, UserCommand } from "../command.ts";
import { type Act, type AuditTrail, foldedName, type Role, type User, type Users } from "../users.ts";
import type { SqlQueries } from "./queries.ts";

const columns = "name, role, kind, created_at, ends_at";

export class SqlUsers implements Users {
  readonly #submit: Submit;
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries, submit: Submit) {
    this.#submit = submit;
    this.#queries = queries;
  }

  add(hash: string, user: User): Promise<boolean> {
    return this.#changes({ verb: "add-user", hash, user });
  }

  async find(hash: string): Promise<User | undefined> {
    const row = await this.#queries.get(`SELECT ${columns} FROM users WHERE hash = ?`, hash);
    return row && userOf(row);
  }

  async named(name: string): Promise<User | undefined> {
    const row = await this.#queries.get(`SELECT ${columns} FROM users WHERE folded = ?`, foldedName(name));
    return row && userOf(row);
  }

  async list(): Promise<readonly User[]> {
    const rows = await this.#queries.all(`SELECT ${columns} FROM users ORDER BY name`);
    return rows.map(userOf);
  }

  async redeem(hash: string): Promise<User | undefined> {
    return (await this.#changes({ verb: "redeem-link", hash })) ? this.find(hash) : undefined;
  }

  revoke(name: string): Promise<boolean> {
    return this.#changes({ verb: "revoke-user", name });
  }

  async #changes(command: UserCommand): Promise<boolean> {
    const reply = await this.#submit(command);
    return reply.kind === "removed" && reply.found;
  }
}

export class SqlAuditTrail implements AuditTrail {
  readonly #submit: Submit;
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries, submit: Submit) {
    this.#submit = submit;
    this.#queries = queries;
  }

  async add(act: Act): Promise<void> {
    await this.#submit({ verb: "note-act", act });
  }

  async list({ limit, person }: { limit: number; person?: string | undefined }): Promise<readonly Act[]> {
    const whose = person === undefined ? "" : "WHERE person = ?";
    const rows = await this.#queries.all(
      `SELECT at, person, role, operation, subject, status, request FROM acts ${whose} ORDER BY number DESC LIMIT ?`,
      ...(person === undefined ? [] : [person]),
      limit,
    );
    return rows.map(([at, name, role, operation, subject, status, request]) => ({
      at: Number(at),
      person: String(name),
      role: role as Role,
      operation: String(operation),
      ...(typeof subject === "string" && { subject }),
      status: Number(status),
      request: String(request),
    }));
  }
}

function userOf([name, role, kind, createdAt, endsAt]: readonly unknown[]): User {
  return {
    name: String(name),
    role: role as Role,
    kind: kind as User["kind"],
    createdAt: Number(createdAt),
    ...(endsAt !== null && { endsAt: Number(endsAt) }),
  };
}
