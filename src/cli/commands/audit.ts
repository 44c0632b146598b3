import { isoTime } from "../../domain/iso-time.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import { printJson, printTable, say } from "../output.ts";
import { readCount } from "../read-flags.ts";
import { plain } from "../terminal/format.ts";

interface AuditFlags extends GlobalOptions {
  readonly person?: string;
  readonly limit: string;
}

/** What people did on the server, newest first. */
export async function audit({ person, limit, ...options }: AuditFlags): Promise<void> {
  const query = { person, limit: readCount("--limit", limit, { least: 1, most: 1_000 }) };
  const acts = await withReadonly(options, (maestro) => maestro.access.trail.list(query));
  if (options.json)
    return printJson(acts.map(({ at, subject = null, ...act }) => ({ at: isoTime(at), ...act, subject })));
  if (acts.length === 0) return say("The server has noted no acts.");
  printTable(
    [
      { head: "at" },
      { head: "person" },
      { head: "role" },
      { head: "operation" },
      { head: "about", yields: 1 },
      { head: "status" },
    ],
    acts.map(({ at, person: who, role, operation, subject = "", status }) => [
      isoTime(at),
      who,
      role,
      operation,
      plain(subject),
      String(status),
    ]),
  );
}
