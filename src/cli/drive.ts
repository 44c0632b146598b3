import { resolve } from "node:path";
import { logEvent } from "../api/log/log-event.ts";
import { type OutFolder, recallOut, rememberOut } from "../api/open-readonly.ts";
import { advise, type Notify } from "../domain/advice.ts";
import { isGitAddress } from "../domain/git-address.ts";
import type { Maestro, OpenOptions, SessionEvent, SessionResult, SessionView } from "../index.ts";
import { deliveryLines } from "./delivery-lines.ts";
import { tellStarter } from "./detach.ts";
import { EarlyExit, exitNow } from "./early-exit.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { explanationLines } from "./explanation.ts";
import { type Interrupt, pauseOnInterrupt } from "./interrupt.ts";
import { JsonEvents } from "./json-events.ts";
import { LiveView } from "./live/live-view.ts";
import { hasLog, type LogFlags, startLog } from "./log-flags.ts";
import { type GlobalOptions, withMaestro } from "./open.ts";
import { checkOut, isGone, sayWritten } from "./out-folder.ts";
import {
  folded,
  nameOf,
  noticeLines,
  printJson,
  printWrapped,
  say,
  sayCommand,
  sayLines,
  sayNotice,
  sayWrapped,
} from "./output.ts";
import { progressLine } from "./progress.ts";
import { type ResultDocument, resultDocument } from "./result-document.ts";
import { claimStrayErrors, endUnclaimed } from "./stray-errors.ts";
import { count, plain } from "./terminal/format.ts";
import { screenOf } from "./terminal/screen.ts";

export interface Driven {
  readonly id: string;
  result(): Promise<SessionResult>;
}

export interface DriveOptions extends GlobalOptions, LogFlags {
  readonly out?: string;
}

interface Telling {
  /** With --json, print one document at the end instead of one event a line. */
  readonly oneDocument?: (ended: ResultDocument) => object;
}

/** Awaits `ready` before anything runs, which writes the data that must survive a crash. */
type Begin = (maestro: Maestro, ready: (id: string) => Promise<void>) => Promise<Driven>;

/** How events are shown: not at all, as lines, as JSON, or as a live frame. */
interface Watching {
  readonly onEvent: (event: SessionEvent) => void;
  readonly say: Notify;
  /** From here on Ctrl-C exits immediately. */
  readonly stopping: () => void;
  readonly follow: (maestro: Maestro, id: string) => Promise<void>;
  readonly close: (maestro: Maestro) => Promise<void>;
}

/** Starts or resumes a session, shows its events until it stops, and prints the result. */
export async function drive(
  options: DriveOptions,
  begin: Begin,
  more: OpenOptions & Telling = {},
): Promise<void> {
  await claimStrayErrors(endUnclaimed);
  const { oneDocument, ...open } = more;
  const asDocument = oneDocument ?? ((ended) => ({ kind: "result", ...ended }));
  const isLogging = hasLog(options);
  const watching = isLogging
    ? inLog(options)
    : !options.json
      ? asPeopleSee()
      : oneDocument === undefined
        ? asJson()
        : silently();
  const finish = async (maestro: Maestro, { result, interrupt }: Ended): Promise<void> => {
    const out = await outOf(maestro, result.id, options.out);
    const given = out === undefined ? undefined : giveFiles(maestro, result, out.folder);
    // The session's result is printed even when its files cannot be written.
    const files = await given?.catch(() => undefined);
    const { delivery } = await maestro.show(result.id);
    // The requested delivery failed.
    if (delivery !== null && delivery.failures.length > 0) process.exitCode = exitCodes.failed;
    if (options.json) printJson({ ...asDocument(resultDocument(result)), delivery, ...(files && { files }) });
    // Texts of personas do not belong in a log.
    else if (!isLogging) await conclude(maestro, result, options, out !== undefined);
    interrupt.told();
    await given;
  };
  const early = new EarlyExit(watching.say);
  let ended: Ended;
  try {
    ended = await withMaestro(
      options,
      async (maestro) => {
        const end = await watchToTheEnd(maestro, begin, watching, options, early);
        if (!end.interrupt.interrupted()) await finish(maestro, end);
        return end;
      },
      { ...open, onEvent: watching.onEvent, onNotice: watching.say },
    );
    // The interrupt has closed the first Maestro.
    if (ended.interrupt.interrupted()) await withMaestro(options, (maestro) => finish(maestro, ended));
  } finally {
    early.leave();
  }
  const interrupted = ended.interrupt.interrupted();
  const code = exitCodeOf(ended.result.status);
  if (interrupted) process.exitCode = exitCodes.interrupted;
  else if (code !== exitCodes.done || process.exitCode === undefined) process.exitCode = code;
}

interface Ended {
  readonly result: SessionResult;
  readonly interrupt: Interrupt;
}

/** Time for work to end after its abort, and for the error to be printed. */
const afterRemovalMs = 5_000;

async function watchToTheEnd(
  maestro: Maestro,
  begin: Begin,
  watching: Watching,
  { out }: DriveOptions,
  early: EarlyExit,
): Promise<Ended> {
  // Work that ignores its signal could continue for long, while another process repeats it.
  maestro.onStateRemoved(({ exitCode }) => {
    setTimeout(() => exitNow(exitCode), afterRemovalMs).unref();
  });
  try {
    const session = await begin(maestro, async (id) => {
      early.session = id;
      if (out !== undefined)
        return rememberOut(maestro.stateDirectory, id, { folder: resolve(out), used: false });
      const recalled = await recallOut(maestro.stateDirectory, id);
      if (recalled !== undefined && !(await isGone(recalled))) await checkOut(recalled.folder);
    });
    tellStarter(session.id);
    const interrupt = pauseOnInterrupt(
      maestro,
      session.id,
      advise("Resume with", "resume", session.id),
      watching,
    );
    early.interrupted = interrupt.interrupted;
    try {
      await watching.follow(maestro, session.id);
      return { result: await session.result(), interrupt };
    } finally {
      interrupt.leave();
    }
  } finally {
    await watching.close(maestro);
  }
}

/** The folder for the files: given now, or remembered from an earlier run. */
async function outOf(maestro: Maestro, id: string, said: string | undefined): Promise<OutFolder | undefined> {
  if (said !== undefined) return { folder: said, used: false };
  const out = await recallOut(maestro.stateDirectory, id);
  if (out === undefined || !(await isGone(out))) return out;
  sayWrapped(
    plain(
      `Its files were written to ${out.folder}, which no longer exists; choose another folder with --out.`,
    ),
  );
  return undefined;
}

async function giveFiles(maestro: Maestro, { id }: SessionResult, directory: string) {
  const given = await maestro.writeFiles(id, directory);
  await rememberOut(maestro.stateDirectory, id, { folder: resolve(directory), used: true });
  if (given.conflicts.length > 0) process.exitCode = exitCodes.failed;
  sayWritten(given, directory);
  return given;
}

async function conclude(
  maestro: Maestro,
  result: SessionResult,
  options: DriveOptions,
  hasFiles: boolean,
): Promise<void> {
  const view = await maestro.show(result.id);
  for (const { name, personas } of view.phases) {
    for (const persona of personas)
      if (persona.summary !== null) printWrapped(plain(`${name} · ${persona.name}: ${persona.summary}`));
  }
  const state = result.reason === undefined ? result.status : `${result.status} (${result.reason})`;
  printWrapped(`Session ${result.id} is ${state}.`);
  sayLines(explanationLines(view, { stateDir: options.stateDir, abandoned: false }));
  sayLines(deliveryLines(view, options.stateDir, await maestro.repositoryFolder(result.id)));
  if (result.status === "completed" && !hasFiles) await sayHowToGetFiles(maestro, view, options);
}

async function sayHowToGetFiles(
  maestro: Maestro,
  view: SessionView,
  { stateDir }: DriveOptions,
): Promise<void> {
  const { delivery, source, artifacts } = view;
  if (delivery !== null && (source !== null || delivery.failures.length === 0)) return;
  const files = source === null ? artifacts : await maestro.changedFiles(view.id);
  if (files.length === 0) return;
  const [name, found] = [nameOf(view), count(files.length, "file")];
  if (source?.git === undefined)
    return sayCommand(`It wrote ${found}. To get them`, stateDir, "show", name, "--out", "<folder>");
  sayCommand(`It changed ${found}. Look at the changes`, stateDir, "diff", name);
  sayCommand("Make a branch of them", stateDir, "branch", name, `maestro/${name}`);
  if (!isGitAddress(source.git)) sayCommand("Or bring them into your files", stateDir, "apply", name);
}

function silently(): Watching {
  return {
    onEvent: () => {},
    say: sayNotice,
    stopping: () => {},
    follow: async () => {},
    close: async () => {},
  };
}

function inLog(options: LogFlags): Watching {
  const log = startLog(options);
  return { ...silently(), onEvent: (event) => logEvent(log, event) };
}

function asJson(): Watching {
  const events = new JsonEvents();
  return {
    ...silently(),
    onEvent: (event) => events.hear(event),
    follow: async (maestro, id) => events.follow(maestro, id),
    close: () => events.close(),
  };
}

function asPeopleSee(): Watching {
  if (!screenOf(process.stderr).live) return asLines();
  const view = new LiveView().open();
  const say: Notify = (notice, actions) => {
    const { columns } = screenOf(process.stderr);
    for (const { text, isCommand } of noticeLines(notice, actions))
      for (const line of isCommand ? [text] : folded(text, columns)) view.say(line);
  };
  return {
    onEvent: (event) => view.apply(event),
    say,
    stopping: () => {
      view.hint("Ctrl-C stops now");
    },
    follow: (maestro, id) => {
      say(`Session ${id} in ${maestro.stateDirectory}`);
      return view.follow(maestro, id);
    },
    close: (maestro) => view.close(maestro),
  };
}

function asLines(): Watching {
  return {
    ...silently(),
    onEvent: (event) => {
      const line = progressLine(event);
      if (line !== undefined) say(line);
    },
    follow: async (maestro, id) => say(`Session ${id} in ${maestro.stateDirectory}`),
  };
}
