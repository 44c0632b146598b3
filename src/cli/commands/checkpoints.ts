import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import { CheckpointCorrupt, InputInvalid, JournalCorrupt, SessionNotFound } from "../../domain/errors.ts";
import type { CheckpointInfo } from "../../index.ts";
import type { Looking } from "../../look.ts";
import { type GlobalOptions, withLook, withMaestro } from "../open.ts";
import { pasteable, print, printJson, printTable, quote, resumeCommand, say, sayWrapped } from "../output.ts";
import { ago, bytes, count } from "../terminal/words.ts";

export async function checkpoints(idOrKey: string, options: GlobalOptions): Promise<void> {
  list(await withLook(options, (maestro) => checkpointsOf(idOrKey, maestro, options)), options);
}

/** A damaged journal is when people need to know what their checkpoints are worth. */
async function checkpointsOf(
  idOrKey: string,
  maestro: Looking,
  { stateDir }: GlobalOptions,
): Promise<readonly CheckpointInfo[]> {
  try {
    return await maestro.checkpoints(idOrKey);
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    sayWrapped(`${error.message} What follows is by the seals of the files alone.`);
    sayWrapped(pasteable(`Go on elsewhere: ${error.advice}`, stateDir));
    return maestro.checkpointFiles(idOrKey);
  }
}

/** Of a session or an export: every checkpoint. Of a checkpoint's file: that one. Damage is exit 5. */
export async function verify(sessionOrFile: string, options: GlobalOptions): Promise<void> {
  const there = statSync(sessionOrFile, { throwIfNoEntry: false });
  // A key may have dots and slashes too, and a folder beside may have its name: only a file that is there is one.
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
        ? "Where its session is, they are written again from the journal: maestro resume <session>"
        : `They are written again from the journal: maestro resume ${quote(sessionOrFile)}`,
    },
  );
}

async function verifyFile(file: string): Promise<readonly CheckpointInfo[]> {
  const { isPacked, verifyCheckpointFile, verifyExport } = await import("../../look.ts");
  if (await isPacked(file)) return verifyExport(file);
  const found = await verifyCheckpointFile(file);
  // Damage is a claim about something that was whole once: any other file is only the wrong one.
  if (!found.valid && !/(?:^|[/\\])checkpoint_[^/\\]*\.json$/.test(file) && !(await beginsAsCheckpoint(file)))
    throw new InputInvalid(`${file} is neither a checkpoint nor an export.`, {
      advice:
        "Name a session, a file checkpoint_<phase>.json, or what `maestro checkpoints export` has written.",
    });
  return [found];
}

/** Its first member, whose name no other file begins with by chance. */
async function beginsAsCheckpoint(file: string): Promise<boolean> {
  const start = '{"attempts":';
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
    advice: "List sessions with: maestro sessions",
  });
}

export async function exportTo(idOrKey: string, file: string, options: GlobalOptions): Promise<void> {
  const carried = await withLook(options, (maestro) => maestro.exportCheckpoints(idOrKey, file));
  if (options.json) return printJson({ ...carried, file });
  print(
    `${count(carried.checkpoints, "checkpoint")} and ${count(carried.artifacts, "artifact")} of session ${carried.session} are in ${file} (${bytes(carried.bytes)}).`,
  );
  // Not as it is typed here: the other machine has its own.
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
