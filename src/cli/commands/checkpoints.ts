import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { Looking } from "../../api/open-readonly.ts";
import { advise, shellCommand } from "../../domain/advice.ts";
import { CheckpointCorrupt, InputInvalid, JournalCorrupt, SessionNotFound } from "../../domain/errors.ts";
import type { CheckpointInfo } from "../../index.ts";
import { type GlobalOptions, withLook, withMaestro } from "../open.ts";
import {
  adviceLines,
  print,
  printJson,
  printTable,
  say,
  sayCommand,
  sayLines,
  sayWrapped,
} from "../output.ts";
import { ago, bytes, count } from "../terminal/format.ts";

export async function checkpoints(idOrKey: string, options: GlobalOptions): Promise<void> {
  list(await withLook(options, (maestro) => checkpointsOf(idOrKey, maestro, options)), options);
}

/** With a damaged journal the checkpoints matter most, so the files are checked by their seals alone. */
async function checkpointsOf(
  idOrKey: string,
  maestro: Looking,
  { stateDir }: GlobalOptions,
): Promise<readonly CheckpointInfo[]> {
  try {
    return await maestro.checkpoints(idOrKey);
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    sayWrapped(`${error.message} The list below is checked by the seals of the files alone.`);
    for (const advice of error.actions) sayLines(adviceLines(advice, stateDir));
    return maestro.checkpointFiles(idOrKey);
  }
}

/** Verifies every checkpoint of a session or an export, or one checkpoint file. Damage is exit 5. */
export async function verify(sessionOrFile: string, options: GlobalOptions): Promise<void> {
  const there = statSync(sessionOrFile, { throwIfNoEntry: false });
  // A key can contain dots and slashes, and a folder can have the same name: only an existing file is a file.
  const isFile = there !== undefined && !there.isDirectory();
  const found = isFile
    ? await verifyFile(sessionOrFile)
    : await withLook(options, (maestro) => checkpointsOf(sessionOrFile, maestro, options)).catch(
        (error: unknown) => {
          if (!SessionNotFound.is(error)) throw error;
          if (there !== undefined) throw onlyFolder(sessionOrFile);
          throw /[./\\]/.test(sessionOrFile) ? noFile(sessionOrFile) : error;
        },
      );
  if (found.length === 0) throw new SessionNotFound(`Session ${sessionOrFile} has no checkpoints.`);
  list(found, options);
  const bad = found.filter(({ valid }) => !valid);
  if (bad.length === 0) return;
  throw new CheckpointCorrupt(
    `${bad.length} of ${count(found.length, "checkpoint")} ${bad.length === 1 ? "is" : "are"} not valid: ${bad.map((each) => each.file).join(", ")}.`,
    {
      advice: isFile
        ? advise("If the session exists here, its journal restores them", "resume", "<session>")
        : advise("The journal restores them", "resume", sessionOrFile),
    },
  );
}

async function verifyFile(file: string): Promise<readonly CheckpointInfo[]> {
  const { isPacked, verifyCheckpointFile, verifyExport } = await import("../../api/open-readonly.ts");
  if (await isPacked(file)) return verifyExport(file);
  const found = await verifyCheckpointFile(file);
  // Only a file that was once a checkpoint can be damaged; any other file is the wrong argument.
  if (!found.valid && !/(?:^|[/\\])checkpoint_[^/\\]*\.json$/.test(file) && !(await beginsAsCheckpoint(file)))
    throw new InputInvalid(`${file} is neither a checkpoint nor an export.`, {
      advice: "Name a session, a file checkpoint_<phase>.json, or an export of a session.",
    });
  return [found];
}

/** The first member of a checkpoint, which no other file starts with by chance. */
async function beginsAsCheckpoint(file: string): Promise<boolean> {
  const start = '{"after":';
  const handle = await open(file);
  try {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(start.length), 0, start.length, 0);
    return buffer.toString("utf8", 0, bytesRead) === start;
  } finally {
    await handle.close();
  }
}

function onlyFolder(name: string): InputInvalid {
  return new InputInvalid(`${name} is a folder, and no session has that key.`, {
    advice: "Name a session, one checkpoint file, or an export.",
  });
}

function noFile(name: string): InputInvalid {
  return new InputInvalid(`There is no file ${name}, and no session with that key.`, {
    advice: advise("List the sessions", "sessions"),
  });
}

export async function exportTo(idOrKey: string, file: string, options: GlobalOptions): Promise<void> {
  const exported = await withLook(options, (maestro) => maestro.exportCheckpoints(idOrKey, file));
  if (options.json) return printJson({ ...exported, file });
  print(
    `${count(exported.checkpoints, "checkpoint")} and ${count(exported.artifacts, "artifact")} of session ${exported.session} exported to ${file} (${bytes(exported.bytes)}).`,
  );
  // Not the way this process was started: the other machine has its own installation.
  say(`On the other machine: ${shellCommand(["maestro", "checkpoints", "import", file])}`);
}

export async function importFrom(file: string, options: GlobalOptions): Promise<void> {
  const imported = await withMaestro(options, (maestro) => maestro.importCheckpoints(file));
  if (options.json) return printJson({ ...imported, file });
  print(`Imported session ${imported.session} with ${count(imported.checkpoints, "checkpoint")}.`);
  sayCommand("Resume with", options.stateDir, "resume", imported.session);
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
      valid ? (awaitingReview ? "valid, waiting for review" : "valid") : (problem ?? "not valid"),
    ]),
  );
}
