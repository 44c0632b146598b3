import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolders } from "../../api/open-readonly.ts";
import { loadConfig } from "../../config/load.ts";
import { advise } from "../../domain/advice.ts";
import { InputInvalid, SessionFailed } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { simulatedName } from "../../domain/simulated.ts";
import type { CheckpointInfo, Maestro, SessionEvent, SessionView } from "../../index.ts";
import { exitCodes } from "../exit-code.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { commandFor, print, printJson, say, sayWrapped } from "../output.ts";
import { painter } from "../terminal/color.ts";
import { screenOf } from "../terminal/screen.ts";
import { wrap } from "../terminal/width.ts";
import { type DemoName, demoEnvironment, demoFiles, type Ended, runMaestro } from "./child.ts";
import { DemoScreen } from "./screen.ts";

export interface DemoOptions extends GlobalOptions {
  readonly out?: string;
}

export interface Place {
  readonly folder: string;
  /** The folder that the team works on. */
  readonly project: string;
  readonly stateDir: string;
  readonly key: string;
}

/** The session when its process was killed, and at its end. */
export interface Played extends Place {
  readonly before: SessionView;
  readonly after: SessionView;
  readonly checkpoints: readonly CheckpointInfo[];
  readonly tookMs: number;
}

/** A demo: a simulated team works in a child process, which is killed with SIGKILL, and a new one resumes. */
export interface Demo {
  readonly name: DemoName;
  readonly brief: string;
  readonly opening: string;
  readonly killedAt: string;
  /** True at the event where the process is killed. */
  readonly isTheMoment: (event: SessionEvent) => boolean;
  readonly prepare?: (place: Place) => Promise<void>;
  readonly runFlags: (place: Place) => readonly string[];
  readonly resumeFlags: (place: Place) => readonly string[];
  readonly document: (played: Played) => object | Promise<object>;
  readonly summary: (played: Played) => Iterable<string> | AsyncIterable<string>;
}

export async function play(demo: Demo, options: DemoOptions): Promise<void> {
  const startedAt = Date.now();
  const place = await choosePlace(demo.name, options);
  const tell = options.json ? () => {} : sayWrapped;
  const tellCommand = (text: string, ...words: readonly string[]): void => {
    if (!options.json) say(text + commandFor(undefined, ...words));
  };
  const { folder, stateDir, key } = place;
  // Exit normally, so that the terminal is restored and no child process remains.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      tellCommand("\nStopped. Resume with: ", "resume", key, "--state-dir", stateDir);
      process.exit(exitCodes.interrupted);
    });
  }
  tell(`${demo.opening}\n`);
  const confined = await confinement(tell);
  await demo.prepare?.(place);
  const loaded = await loadConfig({ flags: { stateDir }, env: demoEnvironment(folder), cwd: folder });
  const look = async (maestro: Maestro): Promise<void> => {
    const screen = new DemoScreen(maestro, options.json === true);
    const live = async (args: readonly string[], isTheMoment: (event: SessionEvent) => boolean) => {
      const all = [...args, "--state-dir", stateDir, ...confined];
      const ended = await runMaestro(all, demo.name, folder, (event) => screen.apply(event), isTheMoment);
      await screen.leave();
      return ended;
    };
    const { teamFile } = demoFiles(demo.name);
    const flags = demo.runFlags(place);
    tellCommand("$ ", "run", demo.brief, "--team", `teams/${demo.name}/team.yaml`, "--key", key, ...flags);
    const run = ["run", demo.brief, "--team", teamFile, "--model", simulatedName, "--key", key, ...flags];
    const first = await live(run, demo.isTheMoment);
    if (!first.killed) throw didNotEnd("The demo's team ended before it could be killed", first);
    const before = await maestro.show(key);
    tell(bold(`\n*** kill -9 ${first.pid}: the process is gone, ${demo.killedAt}.`));
    tellCommand("*** A new process resumes: ", "resume", key, "--state-dir", stateDir);
    tell("");
    const second = await live(["resume", key, ...demo.resumeFlags(place)], () => false);
    if (second.code !== 0) throw didNotEnd("The demo's team did not finish", second);
    const [after, checkpoints] = [await maestro.show(key), await maestro.checkpoints(key)];
    const played: Played = { ...place, before, after, checkpoints, tookMs: Date.now() - startedAt };
    if (options.json) return printJson({ ...(await demo.document(played)), ...place });
    const { columns } = screenOf(process.stdout);
    for await (const line of demo.summary(played)) for (const piece of hang(line, columns)) print(piece);
  };
  await withMaestro({}, look, { loaded });
}

/** The checks of the demo and the files they test are part of this package, so they may run without a sandbox. */
async function confinement(tell: (text: string) => void): Promise<readonly string[]> {
  const { describeSandbox } = await import("../../index.ts");
  const found = await describeSandbox();
  if (found.kind !== "none") return [];
  tell(`This machine has no sandbox, so the checks of the demo run without one. ${found.reason}\n`);
  return ["--sandbox", "none"];
}

async function choosePlace(
  name: DemoName,
  { out, stateDir = process.env["MAESTRO_STATE_DIR"] }: DemoOptions,
): Promise<Place> {
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), "maestro-demo-")) : resolve(out);
  await checkOut(folder);
  await makeFolders(folder).catch((cause: Error) => {
    throw new InputInvalid(`The folder ${folder} cannot be made: ${cause.message}`, {
      cause,
      advice: "Name another one with --out.",
    });
  });
  // The demo may have run in this folder before.
  const key = out === undefined && stateDir === undefined ? name : `${name}-${newId().slice(-4)}`;
  return {
    folder,
    project: join(folder, name === "demo" ? "project" : "repository"),
    stateDir: resolve(stateDir ?? join(folder, "state")),
    key,
  };
}

function didNotEnd(what: string, { code, said }: Ended): SessionFailed {
  return new SessionFailed(`${what}; its process ended with ${code}.`, {
    advice: said.trim() === "" ? advise("Check the machine", "doctor") : `It said: ${said.trim()}`,
  });
}

/** Wraps a row of the summary under its second column. Commands to paste stay on one line. */
function hang(line: string, columns: number): readonly string[] {
  const found = /^( {2}\S+(?: \S+)* {2,})(.*)$/.exec(line);
  const [, head = "", rest = ""] = found ?? [];
  if (found === null || !Number.isFinite(columns) || columns < head.length + 20) return [line];
  return wrap(rest, columns - head.length).map(
    (piece, index) => (index === 0 ? head : " ".repeat(head.length)) + piece,
  );
}

export function bold(text: string): string {
  return painter(screenOf(process.stdout).color)("bold", text);
}
