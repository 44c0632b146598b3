import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { makeFolders } from "../../api/open-readonly.ts";
import { namedTools } from "../../api/tables.ts";
import { loadConfig } from "../../config/load.ts";
import { advise, quote } from "../../domain/advice.ts";
import { InputInvalid, SessionFailed } from "../../domain/errors.ts";
import { newId } from "../../domain/ids.ts";
import { simulatedName } from "../../domain/simulated.ts";
import type { CheckpointInfo, Maestro, SessionEvent, SessionView } from "../../index.ts";
import { demoEnvironment, type Ended, runMaestro, teamFile } from "../demo/child.ts";
import { DemoScreen } from "../demo/screen.ts";
import { exitCodes } from "../exit-code.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { checkOut } from "../out-folder.ts";
import { commandFor, print, printJson, say, sayWrapped } from "../output.ts";
import { painter } from "../terminal/color.ts";
import { count, duration, money, number } from "../terminal/format.ts";
import { screenOf } from "../terminal/screen.ts";
import { wrap } from "../terminal/width.ts";

const brief = "A URL shortener with tests";
/** Halfway through implementation: two of its three files are recorded, the call for the third is in flight. */
const writesBeforeKill = 2;

type TellCommand = (text: string, ...words: readonly string[]) => void;

interface Place {
  readonly folder: string;
  readonly project: string;
  readonly stateDir: string;
  readonly key: string;
}

/** Runs the demo team in a child process, kills it with SIGKILL, and resumes in a new one. */
export async function demo(options: GlobalOptions & { readonly out?: string }): Promise<void> {
  const startedAt = Date.now();
  const place = await choosePlace(options);
  const tell = options.json ? () => {} : sayWrapped;
  const tellCommand: TellCommand = (text, ...words) => {
    if (!options.json) say(text + commandFor(undefined, ...words));
  };
  // Through exit, so that the terminal is restored and no child process stays behind.
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => {
      tellCommand("\nStopped. Resume with: ", "resume", place.key, "--state-dir", place.stateDir);
      process.exit(exitCodes.interrupted);
    });
  }
  tell(
    [
      "A team of five phases builds a URL shortener. The model is simulated: it plays a script, offline, and costs nothing.",
      "Everything else is real: the files, the tests that check them, the journal, the kill.\n",
    ].join("\n"),
  );
  const confined = await confinement(tell);
  const { folder, stateDir } = place;
  const loaded = await loadConfig({ flags: { stateDir }, env: demoEnvironment(folder), cwd: folder });
  const look = async (maestro: Maestro): Promise<void> => {
    const screen = new DemoScreen(maestro, options.json === true);
    const { before, killedPid } = await firstLife(maestro, screen, place, confined, tellCommand);
    tell(bold(`\n*** kill -9 ${killedPid}: the process is gone, halfway through implementation.`));
    const found = ["resume", place.key, "--state-dir", place.stateDir];
    tellCommand("*** A new process resumes: ", ...found);
    tell("");
    const resume = [...found, "--out", place.project, ...confined];
    const second = await runMaestro(
      resume,
      place.folder,
      (event) => screen.apply(event),
      () => false,
    );
    await screen.leave();
    if (second.code !== 0) throw didNotEnd("The demo's team did not finish", second);
    const after = await maestro.show(place.key);
    const checkpoints = await maestro.checkpoints(place.key);
    if (options.json) return printJson({ ...countsOf(before, after, checkpoints), ...place });
    const { columns } = screenOf(process.stdout);
    for (const line of summary(before, after, checkpoints, place, Date.now() - startedAt))
      for (const piece of hang(line, columns)) print(piece);
  };
  await withMaestro({}, look, { loaded });
}

/** The checks of the demo are part of this package, and so are the files that they test: they may run without a sandbox. */
async function confinement(tell: (text: string) => void): Promise<readonly string[]> {
  const { describeSandbox } = await import("../../index.ts");
  const found = await describeSandbox();
  if (found.kind !== "none") return [];
  tell(`This machine has no sandbox, so the checks of the demo run without one. ${found.reason}\n`);
  return ["--sandbox", "none"];
}

async function choosePlace({
  out,
  stateDir = process.env["MAESTRO_STATE_DIR"],
}: GlobalOptions & { readonly out?: string }): Promise<Place> {
  const folder = out === undefined ? await mkdtemp(join(tmpdir(), "maestro-demo-")) : resolve(out);
  await checkOut(folder);
  await makeFolders(folder).catch((cause: Error) => {
    throw new InputInvalid(`The folder ${folder} cannot be made: ${cause.message}`, {
      cause,
      advice: "Name another one with --out.",
    });
  });
  // The demo may have run in the given folder before.
  const key = out === undefined && stateDir === undefined ? "demo" : `demo-${newId().slice(-4)}`;
  return {
    folder,
    project: join(folder, "project"),
    stateDir: resolve(stateDir ?? join(folder, "state")),
    key,
  };
}

async function firstLife(
  maestro: Maestro,
  screen: DemoScreen,
  { folder, stateDir, key }: Place,
  confined: readonly string[],
  tellCommand: TellCommand,
): Promise<{ readonly before: SessionView; readonly killedPid: number }> {
  let writes = 0;
  const isTheMoment = (event: SessionEvent): boolean => {
    if (event.kind !== "step" || event.persona !== "backend_developer" || event.name !== namedTools.write)
      return false;
    writes += 1;
    return writes === writesBeforeKill;
  };
  const run = [
    "run",
    brief,
    "--team",
    teamFile,
    "--model",
    simulatedName,
    "--key",
    key,
    "--state-dir",
    stateDir,
    ...confined,
  ];
  tellCommand("$ ", "run", brief, "--team", "teams/demo/team.yaml", "--key", key);
  const ended = await runMaestro(run, folder, (event) => screen.apply(event), isTheMoment);
  await screen.leave();
  if (!ended.killed) throw didNotEnd("The demo's team ended before it could be killed", ended);
  return { before: await maestro.show(key), killedPid: ended.pid };
}

function didNotEnd(what: string, { code, said }: Ended): SessionFailed {
  return new SessionFailed(`${what}; its process ended with ${code}.`, {
    advice: said.trim() === "" ? advise("Check the machine", "doctor") : `It said: ${said.trim()}`,
  });
}

function countsOf(before: SessionView, after: SessionView, checkpoints: readonly CheckpointInfo[]) {
  const { usage } = after;
  const attempts = after.phases.flatMap(({ personas }) => personas.flatMap((persona) => persona.attempts));
  return {
    status: after.status,
    simulated: after.simulated,
    kept: before.steps,
    steps: after.steps,
    /** Paid before the kill, and not again after it. */
    notPaidTwice: {
      calls: before.usage.calls,
      tokens: before.usage.inputTokens + before.usage.outputTokens,
      usd: before.usage.costUsd,
    },
    calls: usage.calls,
    tokens: usage.inputTokens + usage.outputTokens,
    costUsd: usage.costUsd,
    lostInTheCrash: usage.estimatedTokens,
    retried: attempts.filter(({ status }) => status === "failed").length,
    healed: attempts.flatMap(({ healing }) => healing.filter(({ outcome }) => outcome === "passed")).length,
    checkpoints: checkpoints.filter(({ valid }) => valid).length,
    files: after.artifacts.length,
  };
}

function* summary(
  before: SessionView,
  after: SessionView,
  checkpoints: readonly CheckpointInfo[],
  { project, stateDir, key }: Place,
  tookMs: number,
): Generator<string> {
  const counts = countsOf(before, after, checkpoints);
  const { notPaidTwice } = counts;
  const replayed = after.usage.saved.resume.tokens;
  yield "";
  yield bold(`Done in ${duration(tookMs)}. Killed halfway, and no recorded step was lost or paid twice.`);
  yield `  kept         all ${counts.kept} steps recorded before the kill; none ran again`;
  yield `  not twice    ${number(notPaidTwice.tokens)} tokens, ${money(notPaidTwice.usd)}: the ${count(notPaidTwice.calls, "model call")} before the kill; ${number(replayed)} of them were read from the journal to resume; show and usage call them "not paid again"`;
  yield `  paid         ${number(counts.tokens)} tokens in ${count(counts.calls, "call")}, ${money(counts.costUsd)} at invented prices (the model is simulated)`;
  if (counts.lostInTheCrash > 0)
    yield `  in flight    the one call under way was asked again; its answer is all that a kill can lose (budgets count it as paid, to be safe)`;
  yield `  mended       ${count(counts.retried, "network fault")} retried, ${count(counts.healed, "failure")} healed without asking the model again`;
  yield `  checkpoints  ${counts.checkpoints} sealed and valid: of the start and of ${count(after.phases.length, "phase")}`;
  yield `  project      ${count(counts.files, "file")} in ${project}, checked by its own tests`;
  yield "";
  yield "Try next:";
  yield `  ${commandFor(stateDir, "show", key)}`;
  yield `  ${commandFor(stateDir, "usage", "--session", key)}`;
  yield `  (cd ${quote(project)} && node --test)`;
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

function bold(text: string): string {
  return painter(screenOf(process.stdout).color)("bold", text);
}
