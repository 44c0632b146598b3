import { statSync } from "node:fs";
import { CheckpointCorrupt, InputInvalid, JournalCorrupt, SessionNotFound } from "../../domain/errors.ts";
import type { CheckpointInfo } from "../../index.ts";
import type { Looking } from "../../look.ts";
import { type GlobalOptions, withLook, withMaestro } from "../open.ts";
import { print, printJson, printTable, quote, resumeCommand, say } from "../output.ts";
import { ago, bytes, count } from "../terminal/words.ts";

export async function checkpoints(idOrKey: string, options: GlobalOptions): Promise<void> {
  list(await withLook(options, (maestro) => checkpointsOf(idOrKey, maestro)), options);
}

/** A damaged journal is when people need to know what their checkpoints are worth. */
async function checkpointsOf(idOrKey: string, maestro: Looking): Promise<readonly CheckpointInfo[]> {
  try {
    return await maestro.checkpoints(idOrKey);
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    say(`${error.message} What follows is by the seals of the files alone.`);
    say(`Go on elsewhere: ${error.advice}`);
    return maestro.checkpointFiles(idOrKey);
  }
}

/** Of a session: every checkpoint. Of a file: that one. Damage is exit 5. */
export async function verify(sessionOrFile: string, options: GlobalOptions): Promise<void> {
  const { verifyCheckpointFile } = await import("../../look.ts");
  const file = statSync(sessionOrFile, { throwIfNoEntry: false });
  if (file?.isDirectory())
    throw new InputInvalid(`${sessionOrFile} is a folder.`, {
      advice: "Name a session, or one checkpoint file.",
    });
  // A key may have dots and slashes too, so only a file that is there is one.
  const found =
    file === undefined
      ? await withLook(options, (maestro) => checkpointsOf(sessionOrFile, maestro)).catch(
          (error: unknown) => {
            throw SessionNotFound.is(error) && /[./\\]/.test(sessionOrFile) ? noFile(sessionOrFile) : error;
          },
        )
      : [await verifyCheckpointFile(sessionOrFile)];
  if (found.length === 0) throw new SessionNotFound(`Session ${sessionOrFile} has no checkpoints.`);
  list(found, options);
  const bad = found.filter(({ valid }) => !valid);
  if (bad.length === 0) return;
  throw new CheckpointCorrupt(
    `${bad.length} of ${found.length} checkpoints are not valid: ${bad.map(({ file }) => file).join(", ")}.`,
    { advice: "Resume the session: they are written again from the journal." },
  );
}

function noFile(name: string): InputInvalid {
  return new InputInvalid(`There is no file ${name}, and no session with that key.`, {
    advice: "List sessions with: maestro sessions",
  });
}

export async function exportTo(idOrKey: string, file: string, options: GlobalOptions): Promise<void> {
  const carried = await withLook(options, (maestro) => maestro.exportCheckpoints(idOrKey, file));
  if (options.json) return printJson({ ...carried, file });
  print(
    `${count(carried.checkpoints, "checkpoint")} and ${count(carried.artifacts, "artifact")} of session ${carried.session} are in ${file} (${bytes(carried.bytes)}).`,
  );
  say(`On the other machine: maestro checkpoints import ${quote(file)}`);
}

export async function importFrom(file: string, options: GlobalOptions): Promise<void> {
  const carried = await withMaestro(options, (maestro) => maestro.importCheckpoints(file));
  if (options.json) return printJson({ ...carried, file });
  print(`Session ${carried.session} is here, with ${count(carried.checkpoints, "checkpoint")}.`);
  say(`Go on with: ${resumeCommand(carried.session, options.stateDir)}`);
}

function list(found: readonly CheckpointInfo[], { json }: GlobalOptions): void {
  if (json) return printJson(found);
  printTable(
    [
      { head: "phase" },
      { head: "revision", align: "right", yields: 1 },
      { head: "made", yields: 2 },
      { head: "sha256", yields: 3 },
      { head: "state" },
    ],
    found.map(({ phase, revision, createdAt, sha256, valid, problem, awaitingReview }) => [
      phase,
      String(revision),
      createdAt === null ? "-" : ago(Date.parse(createdAt)),
      sha256?.slice(0, 12) ?? "-",
      valid ? (awaitingReview ? "valid, waits for review" : "valid") : (problem ?? "not valid"),
    ]),
  );
}
