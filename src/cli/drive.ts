import type { Maestro, OpenOptions, SessionEvent, SessionResult } from "../index.ts";
import { exitCodeOf, exitCodes } from "./exit-code.ts";
import { pauseOnInterrupt } from "./interrupt.ts";
import { JsonEvents } from "./json-events.ts";
import { LiveView } from "./live/live-view.ts";
import { answersFor } from "./on-call.ts";
import { type GlobalOptions, withMaestro } from "./open.ts";
import { commandLine, print, printJson, printWrapped, resumeCommand, say, sayWrapped } from "./output.ts";
import { progressLine } from "./progress.ts";
import { type ResultDocument, resultDocument } from "./result-document.ts";
import { tellStarter } from "./starter.ts";
import { screenOf } from "./terminal/screen.ts";
import { count, plain } from "./terminal/words.ts";

export interface Driven {
  readonly id: string;
  result(): Promise<SessionResult>;
}

export interface DriveOptions extends GlobalOptions {
  /** Where the files go in the end. */
  readonly out?: string;
}

interface Telling {
  /** With --json nothing but the end is told, as one document and not as the last of many lines. */
  readonly oneDocument?: (ended: ResultDocument) => object;
}

/** Where what happens is shown: nowhere, as lines, as JSON, or as a picture. */
interface Watching {
  readonly onEvent: (event: SessionEvent) => void;
  readonly say: (text: string) => void;
  readonly follow: (maestro: Maestro, id: string) => Promise<void>;
  readonly close: (maestro: Maestro) => Promise<void>;
}

/** Begins or goes on with a session, shows what happens until the drive ends, and says how it stands then. */
export async function drive(
  options: DriveOptions,
  begin: (maestro: Maestro) => Promise<Driven>,
  more: OpenOptions & Telling = {},
): Promise<void> {
  const { oneDocument, ...open } = more;
  const asDocument = oneDocument ?? ((ended) => ({ kind: "result", ...ended }));
  const watching = !options.json ? asPeopleSee() : oneDocument === undefined ? asJson() : silently();
  const finish = async (maestro: Maestro, result: SessionResult): Promise<void> => {
    const given = options.out === undefined ? undefined : giveFiles(maestro, result, options.out);
    // What became of the session is said whatever becomes of its files.
    const files = await given?.catch(() => undefined);
    if (options.json) printJson({ ...asDocument(resultDocument(result)), ...(files && { files }) });
    else await conclude(maestro, result, options);
    await given;
  };
  const { result, interrupted } = await withMaestro(
    options,
    async (maestro) => {
      const ended = await watchToTheEnd(maestro, begin, watching, options.stateDir);
      if (!ended.interrupted) await finish(maestro, ended.result);
      return ended;
    },
    { ...open, onEvent: watching.onEvent, onNotice: (text) => watching.say(plain(text)) },
  );
  // Stopping has closed the first one.
  if (interrupted) await withMaestro(options, (maestro) => finish(maestro, result));
  process.exitCode = interrupted ? exitCodes.interrupted : exitCodeOf(result.status);
}

async function watchToTheEnd(
  maestro: Maestro,
  begin: (maestro: Maestro) => Promise<Driven>,
  watching: Watching,
  stateDir: string | undefined,
): Promise<{ readonly result: SessionResult; readonly interrupted: boolean }> {
  try {
    const session = await begin(maestro);
    tellStarter(session.id);
    const interrupt = pauseOnInterrupt(
      maestro,
      session.id,
      resumeCommand(session.id, stateDir),
      watching.say,
    );
    try {
      await watching.follow(maestro, session.id);
      return { result: await session.result(), interrupted: interrupt.interrupted() };
    } finally {
      interrupt.leave();
    }
  } finally {
    await watching.close(maestro);
  }
}

async function giveFiles(maestro: Maestro, { id }: SessionResult, directory: string) {
  const given = await maestro.writeFiles(id, directory);
  say(
    `${count(given.written.length, "file")} written to ${directory}${given.removed.length === 0 ? "" : `, ${given.removed.length} removed`}.`,
  );
  for (const { path, reason } of given.kept) say(plain(`Left alone: ${path}: ${reason}`));
  return given;
}

async function conclude(maestro: Maestro, result: SessionResult, options: DriveOptions): Promise<void> {
  const view = await maestro.show(result.id);
  for (const { name, personas } of view.phases) {
    for (const persona of personas)
      if (persona.summary !== null) printWrapped(plain(`${name} · ${persona.name}: ${persona.summary}`));
  }
  const state = result.reason === undefined ? result.status : `${result.status} (${result.reason})`;
  print(`Session ${result.id} is ${state}.`);
  for (const line of answersFor(view, { stateDir: options.stateDir, abandoned: false, now: Date.now() }))
    sayWrapped(plain(line));
  if (options.out === undefined && view.artifacts.length > 0 && result.status === "completed")
    say(
      `It made ${count(view.artifacts.length, "file")}; to have them: ${commandLine("show", view.key ?? view.id, options.stateDir, "--out", "<folder>")}`,
    );
}

function silently(): Watching {
  return { onEvent: () => {}, say, follow: async () => {}, close: async () => {} };
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
  return {
    onEvent: (event) => view.apply(event),
    say: (text) => view.say(text),
    follow: (maestro, id) => {
      view.say(`Session ${id} in ${maestro.stateDirectory}`);
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
