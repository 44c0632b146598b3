import type { ReadonlyMaestro } from "../api/open-readonly.ts";
import { advise } from "../domain/advice.ts";
import { SessionNotFound } from "../domain/errors.ts";
import type { SessionId } from "../domain/ids.ts";
import { exitCodes } from "./exit-code.ts";
import { type Finding, wrong } from "./finding.ts";
import { count } from "./terminal/format.ts";
import { tellSpinner } from "./terminal/spinner.ts";

const pageSize = 200;
/** A state directory may have thousands of damaged sessions. The rest are counted. */
const mostFindings = 100;

/**
 * Runs the database's own check. Then verifies all sessions: each row by its hash chain and its seal, each checkpoint by
 * its seal, each artifact by its hash. One session and one artifact at a time, so that memory does not grow with them.
 */
export async function verifyState(maestro: ReadonlyMaestro): Promise<readonly Finding[]> {
  const damage = await maestro.findDamage();
  if (damage.length > 0) return [damagedDatabase(damage)];
  const findings = new Findings();
  const sessions = await verifySessions(maestro, findings);
  const files = await verifyFiles(maestro, findings);
  tellSpinner();
  if (!findings.isEmpty) return findings.list();
  const found = `${count(sessions.rows, "row")} and ${count(files, "file")} of ${count(sessions.count, "session")} verified`;
  return [{ what: "database", state: "ok", found }];
}

async function verifySessions(
  maestro: ReadonlyMaestro,
  findings: Findings,
): Promise<{ readonly count: number; readonly rows: number }> {
  const { byStatus } = await maestro.count();
  const all = Object.values(byStatus).reduce((sum, some) => sum + some, 0);
  let [verified, rows] = [0, 0];
  for (let before: SessionId | undefined; ; ) {
    const page = await maestro.sessions({ limit: pageSize, ...(before !== undefined && { before }) });
    for (const { id } of page) {
      tellSpinner(`${verified} of ${count(all, "session")} verified`);
      rows += await verifySession(maestro, id, findings);
      verified += 1;
    }
    before = page.at(-1)?.id;
    if (before === undefined || page.length < pageSize) return { count: verified, rows };
  }
}

async function verifySession(maestro: ReadonlyMaestro, id: SessionId, findings: Findings): Promise<number> {
  try {
    const { rows, checkpoints, conflict } = await maestro.verify(id);
    if (conflict !== undefined) findings.add(wrong(`session ${id}`, conflict));
    const bad = checkpoints.filter(({ valid }) => !valid);
    if (bad.length > 0)
      findings.add({
        what: "checkpoints",
        state: "wrong",
        found: `session ${id}: ${bad.map(({ file, problem }) => `${file}: ${problem}`).join("; ")}`,
        fix: [advise("The journal restores them", "resume", id)],
        exitCode: exitCodes.damaged,
      });
    return rows;
  } catch (error) {
    // The session was deleted meanwhile.
    if (!SessionNotFound.is(error)) findings.add(wrong(`session ${id}`, error));
    return 0;
  }
}

async function verifyFiles(maestro: ReadonlyMaestro, findings: Findings): Promise<number> {
  let verified = 0;
  for await (const { session, error } of maestro.verifyArtifacts()) {
    tellSpinner(`${count(verified, "file")} verified`);
    verified += 1;
    if (error !== undefined) findings.add(wrong(`artifacts of session ${session}`, error));
  }
  return verified;
}

/** Keeps the first findings, and the number and exit code of the rest. */
class Findings {
  readonly #listed: Finding[] = [];
  #others = 0;
  #exitCode = 0;

  get isEmpty(): boolean {
    return this.#listed.length === 0;
  }

  add(finding: Finding): void {
    if (this.#listed.length < mostFindings) return void this.#listed.push(finding);
    this.#others += 1;
    this.#exitCode = Math.max(this.#exitCode, finding.exitCode ?? 0);
  }

  list(): readonly Finding[] {
    if (this.#others === 0) return this.#listed;
    const found = `${count(this.#others, "more problem")} like these; mend the first ones and run doctor again`;
    return [...this.#listed, { what: "database", state: "wrong", found, exitCode: this.#exitCode }];
  }
}

function damagedDatabase(damage: readonly string[]): Finding {
  return {
    what: "database",
    state: "wrong",
    found: `it is damaged: ${damage.join("; ")}`,
    fix: [
      advise(
        "Move maestro.db aside, with its -wal and -shm; resume then restores the sessions from their newest checkpoints.",
      ),
    ],
    exitCode: exitCodes.damaged,
  };
}
