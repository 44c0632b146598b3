import type { SessionId } from "../../domain/ids.ts";
import type { PersonaView, PhaseView, SessionView } from "../../index.ts";
import { answersFor } from "../on-call.ts";
import { type GlobalOptions, withLook } from "../open.ts";
import { folded, print, printJson, say } from "../output.ts";
import { type Paint, painter } from "../terminal/color.ts";
import { type Screen, screenOf } from "../terminal/screen.ts";
import { ago, bytes, cost, count, duration, plain, shortNumber } from "../terminal/words.ts";

const mostFiles = 20;

interface ShowOptions extends GlobalOptions {
  readonly out?: string;
}

export async function show(idOrKey: string, options: ShowOptions): Promise<void> {
  const { view, abandoned, files } = await withLook(options, async (maestro) => ({
    view: await maestro.show(idOrKey),
    abandoned: await maestro.abandoned(),
    files: options.out === undefined ? undefined : await maestro.writeFiles(idOrKey, options.out),
  }));
  const isAbandoned = view.status === "running" && abandoned.has(view.id as SessionId);
  if (options.json) return printJson({ ...view, abandoned: isAbandoned });
  const screen = screenOf(process.stdout);
  const facing = { stateDir: options.stateDir, abandoned: isAbandoned, now: Date.now() };
  for (const line of describe(view, facing, screen)) print(line);
  if (files === undefined) return;
  say(`${count(files.written.length, "file")} written to ${options.out}.`);
  for (const { path, reason } of files.kept) say(plain(`Left alone: ${path}: ${reason}`));
}

/** In the order in which somebody on call asks; the details after that. */
export function* describe(
  view: SessionView,
  facing: Parameters<typeof answersFor>[1],
  screen: Screen,
): Generator<string> {
  const paint = painter(screen.color);
  const fit = (text: string, indent: number): readonly string[] =>
    folded(" ".repeat(indent) + plain(text), screen.columns);
  const { id, key, team, status, reason, brief, updatedAt, model, simulated, fork } = view;
  const state = reason === null ? status : `${status} (${reason})`;
  const named = key === null ? id : `${id} (key ${key})`;
  yield* fit(`Session ${named}: ${state}, changed ${ago(Date.parse(updatedAt), facing.now)}`, 0);
  const shortBrief = brief.length > 200 ? `${brief.slice(0, 200)}…` : brief;
  yield* fit(
    `Team ${team}${model === null ? "" : `, ${simulated ? "simulated model" : model}`}: ${shortBrief}`,
    0,
  );
  if (fork !== null) yield* fit(`Fork of ${fork.session} at ${fork.at}`, 0);
  for (const line of answersFor(view, facing)) yield* fit(line, 0);
  yield "";
  for (const phase of view.phases) {
    for (const line of phaseText(phase, paint)) yield line;
    for (const persona of phase.personas)
      for (const [text, indent] of personaTexts(persona)) yield* fit(text, indent);
  }
  yield* fileLines(view);
  if (view.decisions.length > 0) {
    yield "";
    yield "Decisions:";
    for (const { title, reason: why } of view.decisions) yield* fit(`${title}: ${why}`, 2);
  }
}

function phaseText(
  { name, status, gate, checkpoint, review, source, revision, notes }: PhaseView,
  paint: Paint,
): string[] {
  const parts: string[] = [status];
  if (revision > 1) parts.push(`revision ${revision}`);
  if (source.kind !== "work")
    parts.push(source.kind === "given" ? `given from ${source.origin}` : source.kind);
  if (gate?.score != null && gate.threshold !== null)
    parts.push(`gate ${gate.verdict} (${gate.score.toFixed(2)} of ${gate.threshold.toFixed(2)})`);
  else if (gate !== null) parts.push(gate.verdict);
  if (review === "awaiting") parts.push("waits for review");
  if (checkpoint !== null) parts.push(`sealed ${checkpoint.sha256.slice(0, 12)}`);
  const color =
    status === "completed" || status === "reused" ? "green" : status === "running" ? "cyan" : "dim";
  return [
    `${paint(color, plain(name))}: ${plain(parts.join(", "))}`,
    ...notes.map((note) => plain(`  sent back: ${note}`)),
  ];
}

function personaTexts({ name, status, summary, attempts, usage }: PersonaView): [string, number][] {
  const last = attempts.at(-1);
  const spent =
    usage === null || usage.calls === 0
      ? ""
      : `, ${shortNumber(usage.inputTokens + usage.outputTokens)} tokens, ${cost(usage)}`;
  const began = attempts[0]?.startedAt;
  const took =
    began !== undefined && last?.endedAt != null
      ? `, ${duration(Date.parse(last.endedAt) - Date.parse(began))}`
      : "";
  const texts: [string, number][] = [
    [`${name}: ${status}${spent}${took}${summary === null ? "" : ` · ${summary}`}`, 2],
  ];
  for (const { round, attempt, failure, healing } of attempts) {
    if (failure !== null) texts.push([`round ${round} attempt ${attempt} failed: ${failure.message}`, 4]);
    for (const { healer, action, outcome } of healing) texts.push([`${healer} ${outcome}: ${action}`, 4]);
  }
  return texts;
}

function* fileLines({ artifacts }: SessionView): Generator<string> {
  if (artifacts.length === 0) return;
  yield "";
  yield `${count(artifacts.length, "file")}; write them with --out <folder>:`;
  for (const { path, bytes: size, persona } of artifacts.slice(0, mostFiles))
    yield plain(`  ${path} (${bytes(size)}${persona === null ? "" : `, ${persona}`})`);
  if (artifacts.length > mostFiles)
    yield `  and ${artifacts.length - mostFiles} more; all of them with --json`;
}
