import type { Submit } from "../command.ts";
import type { Login, Logins } from "../logins.ts";
import type { SqlQueries } from "./queries.ts";

export class SqlLogins implements Logins {
  readonly #submit: Submit;
  readonly #queries: SqlQueries;

  constructor(queries: SqlQueries, submit: Submit) {
    this.#submit = submit;
    this.#queries = queries;
  }

  async add(hash: string, login: Login): Promise<boolean> {
    const reply = await this.#submit({ verb: "add-login", hash, login });
    return reply.kind === "removed" && reply.found;
  }

  async find(hash: string): Promise<Login | undefined> {
    const row = await this.#queries.get(
      'SELECT name, role, "user", created_at, used_at, expires_at FROM logins WHERE hash = ?',
      hash,
    );
    if (row === undefined) return undefined;
    const [name, role, user, createdAt, usedAt, expiresAt] = row;
    return {
      name: String(name),
      role: String(role),
      ...(typeof user === "string" && { user }),
      createdAt: Number(createdAt),
      usedAt: Number(usedAt),
      expiresAt: Number(expiresAt),
    };
  }

  async renew(hash: string, { usedAt, expiresAt }: Pick<Login, "usedAt" | "expiresAt">): Promise<void> {
    await this.#submit({ verb: "renew-login", hash, usedAt, expiresAt });
  }

  async end(hash: string): Promise<boolean> {
    const reply = await this.#submit({ verb: "end-login", hash });
    return reply.kind === "removed" && reply.found;
  }
}
