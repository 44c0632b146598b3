import type { ClaimCause } from "../../domain/journal.ts";
import { parseBody, type RowToWrite } from "../../domain/journal-codec.ts";
import type { writerStatements } from "./writer-statements.ts";

/** The session's row is the one projection that must never disagree with the journal, hence the same transaction. */
export function projectStatus(
  sql: ReturnType<typeof writerStatements>,
  session: number,
  row: RowToWrite,
  at: number,
): void {
  if (row.kind === "session.claimed") {
    const { cause } = parseBody(row.body) as { cause: ClaimCause };
    if (cause !== "message") sql.setRunning.run(at, at, session);
  } else if (row.kind === "session.status") {
    const { status, reason, wakeAt } = parseBody(row.body) as {
      status: string;
      reason?: string;
      wakeAt?: number;
    };
    sql.setStatus.run(status, reason ?? null, wakeAt ?? null, at, at, session);
  } else if (row.kind === "team.changed") {
    const { teamFingerprint } = parseBody(row.body) as { teamFingerprint: string };
    sql.setTeam.run(teamFingerprint, at, session);
  } else if (row.attempt === null) sql.touch.run(at, session);
}
