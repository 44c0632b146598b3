import { statSync } from "node:fs";
import { open } from "node:fs/promises";
import type { ReadonlyMaestro } from "../../api/open-readonly.ts";
import { type Advice, advise, shellCommand } from "../../domain/advice.ts";
import {
  CheckpointCorrupt,
  InputInvalid,
  JournalCorrupt,
  type MaestroError,
  SessionNotFound,
  StorageFailed,
} from "../../domain/errors.ts";
import type { CheckpointInfo } from "../../index.ts";
import { sayDemands } from "../demands.ts";
import { anywhere } from "../how-started.ts";
import { type GlobalOptions, requireState, withMaestro, withReadonly } from "../open.ts";
import {
  adviceLines,
  nameOf,
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
  const { found, damage } = await withReadonly(options, (maestro) => checkpointsOf(idOrKey, maestro));
  if (damage !== undefined) {
    sayWrapped(`${damage.message} ${bySealsAlone}`);
    for (const advice of damage.actions) sayLines(adviceLines(advice, options.stateDir));
  }
  list(found, options);
}

const bySealsAlone = "The checkpoints are verified by the seals of their files alone.";

interface Found {
  readonly found: readonly CheckpointInfo[];
  /** Damage of the journal. */
  readonly damage?: MaestroError;
  /** Set when files have newer work than the database. */
  readonly conflict?: MaestroError | undefined;
}

/** Checkpoints matter most when the journal is damaged, so they are then checked by their seals alone. */
async function checkpointsOf(idOrKey: string, maestro: ReadonlyMaestro): Promise<Found> {
  try {
    const { id } = await maestro.find(idOrKey);
    const { checkpoints: found, conflict } = await maestro.verify(id);
    return { found, conflict };
  } catch (error) {
    if (!JournalCorrupt.is(error)) throw error;
    return { found: await maestro.checkpointFiles(idOrKey), damage: error };
  }
}

/** Verifies a session with its checkpoints and artifacts, an export, or one checkpoint file. Damage is exit 5. */
export async function verify(sessionOrFile: string, options: GlobalOptions): Promise<void> {
  const there = statSync(sessionOrFile, { throwIfNoEntry: false });
  // A key can contain dots and slashes, and a folder can have the same name: only an existing file is a file.
  if (there !== undefined && !there.isDirectory()) {
    const found = await verifyFile(sessionOrFile);
    list(found, options);
    return throwFirst(
      invalid(found, advise("If the session exists here, its journal restores them", "resume", "<session>")),
    );
  }
  await verifySession(sessionOrFile, options).catch((error: unknown) => {
    if (!SessionNotFound.is(error)) throw error;
    if (there !== undefined) throw onlyFolder(sessionOrFile);
    throw /[./\\]/.test(sessionOrFile) ? noFile(sessionOrFile) : error;
  });
}

async function verifySession(idOrKey: string, options: GlobalOptions): Promise<void> {
  await withReadonly(options, async (maestro) => {
    const { id } = await maestro.find(idOrKey);
    const { found, damage, conflict } = await checkpointsOf(id, maestro);
    const wrong: MaestroError[] = [];
    let verified = 0;
    for await (const { error } of maestro.verifyArtifacts(id)) {
      if (error === undefined) verified += 1;
      else wrong.push(error);
    }
    if (found.length === 0) throw new SessionNotFound(`Session ${idOrKey} has no checkpoints.`);
    list(found, options);
    if (damage !== undefined) sayWrapped(bySealsAlone);
    say(`${count(verified, "artifact")} verified.`);
    for (const { message } of wrong) sayWrapped(message);
    // An unreadable file may be intact. Its advice changes nothing, so it comes before the advice to repair.
    const unread = wrong.find((error) => StorageFailed.is(error));
    const restored = advise("The journal restores them", "resume", idOrKey);
    throwFirst(damage, unread, invalid(found, restored), wrong[0], conflict);
  });
}

function throwFirst(...errors: readonly (MaestroError | undefined)[]): void {
  const first = errors.find((error) => error !== undefined);
  if (first !== undefined) throw first;
}

function invalid(found: readonly CheckpointInfo[], advice: Advice): CheckpointCorrupt | undefined {
  const bad = found.filter(({ valid }) => !valid);
  if (bad.length === 0) return undefined;
  return new CheckpointCorrupt(
    `${bad.length} of ${count(found.length, "checkpoint")} ${bad.length === 1 ? "is" : "are"} not valid: ${bad.map((each) => each.file).join(", ")}.`,
    { advice },
  );
}

async function verifyFile(file: string): Promise<readonly CheckpointInfo[]> {
  const { isPacked, verifyCheckpointFile, verifyExport } = await import("../../api/open-readonly.ts");
  if (await isPacked(file)) return verifyExport(file);
  const found = await verifyCheckpointFile(file);
  // Only a file that was a checkpoint can be damaged. Any other file is a wrong argument.
  if (!found.valid && !/(?:^|[/\\])checkpoint_[^/\\]*\.json$/.test(file) && !(await beginsAsCheckpoint(file)))
    throw new InputInvalid(`${file} is neither a checkpoint nor an export.`, {
      advice: "Name a session, a file checkpoint_<phase>.json, or an export of a session.",
    });
  return [found];
}

/** The first member of a checkpoint, which other files do not start with by chance. */
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
  const exported = await withReadonly(options, (maestro) => maestro.exportCheckpoints(idOrKey, file));
  if (options.json) return printJson({ ...exported, file });
  print(
    `${count(exported.checkpoints, "checkpoint")} and ${count(exported.artifacts, "artifact")} of session ${exported.session} exported to ${file} (${bytes(exported.bytes)}).`,
  );
  // Not the way this process was started: the other machine may have nothing installed.
  say(
    `On the other machine: ${shellCommand(["maestro", "checkpoints", "import", file], { start: anywhere })}`,
  );
}

export interface ImportFlags extends GlobalOptions {
  readonly trust?: boolean;
}

export async function importFrom(file: string, options: ImportFlags): Promise<void> {
  const { trust = false } = options;
  const { imported, status } = await withMaestro(options, async (maestro) => {
    const imported = await maestro.importCheckpoints(file, { trust });
    return { imported, status: (await maestro.find(imported.session)).status };
  });
  if (options.json) return printJson({ ...imported, file });
  print(`Imported session ${imported.session} with ${count(imported.checkpoints, "checkpoint")}.`);
  if (status === "completed")
    return sayCommand("It is completed. See it with", options.stateDir, "show", imported.session);
  sayDemands(imported.demands, { trusted: trust });
  if (trust) return sayCommand("Resume with", options.stateDir, "resume", imported.session);
  sayCommand("If you trust it, resume with", options.stateDir, "resume", imported.session, "--trust");
}

/** Adds sealed work that an older database lacks. */
export async function restore(idOrKey: string, options: GlobalOptions): Promise<void> {
  await requireState(options, idOrKey);
  const { restored, name } = await withMaestro(options, async (maestro) => ({
    restored: await maestro.restoreCheckpoints(idOrKey),
    name: nameOf(await maestro.find(idOrKey)),
  }));
  if (options.json) return printJson(restored);
  const { checkpoints: files, session } = restored;
  if (files.length === 0)
    return print(`Session ${session} has no checkpoints that are newer than the database.`);
  print(`Restored ${count(files.length, "checkpoint")} of session ${session}: ${files.join(", ")}.`);
  sayCommand("Resume with", options.stateDir, "resume", name);
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
