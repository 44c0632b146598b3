import { InputInvalid } from "../../domain/errors.ts";
import type { SessionId } from "../../domain/ids.ts";
import { isJsonObject } from "../../domain/json-value.ts";
import type { FilesAt, PersonaView, PhaseView, SessionView } from "../../index.ts";
import { stuckText } from "../../journal/after-failure.ts";
import { needsYouText } from "../../journal/exhausted.ts";
import { explainStop } from "../../journal/explain-stop.ts";
import { callText } from "../../journal/waiting-call.ts";
import { deliveryLines } from "../delivery-lines.ts";
import { sayDemands } from "../demands.ts";
import { exitCodes } from "../exit-code.ts";
import { explanationLines, type Facing } from "../explanation.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import { checkOut, sayWritten } from "../out-folder.ts";
import { folded, print, printJson } from "../output.ts";
import { type Color, type Paint, painter } from "../terminal/color.ts";
import { ago, bytes, cost, count, duration, plain, shortNumber, stoppingTexts } from "../terminal/format.ts";
import { type Screen, screenOf } from "../terminal/screen.ts";

const mostFiles = 20;
const mostEffects = 50;

interface ShowOptions extends GlobalOptions {
  readonly out?: string;
  readonly at?: string;
}

export async function show(idOrKey: string, options: ShowOptions): Promise<void> {
  if (options.at !== undefined && options.out === undefined)
    throw new InputInvalid("--at needs --out: it selects the files to write.");
  await checkOut(options.out);
  const { view, abandoned, files, demands, repository } = await withReadonly(options, async (maestro) => {
    const view = await maestro.show(idOrKey);
    return {
      view,
      demands: view.imported === null ? [] : await maestro.demands(idOrKey),
      abandoned: await maestro.abandoned(),
      repository: await maestro.repositoryFolder(idOrKey),
      files:
        options.out === undefined
          ? undefined
          : await maestro.writeFiles(idOrKey, options.out, filesAt(options)),
    };
  });
  if (files !== undefined && files.conflicts.length > 0) process.exitCode = exitCodes.failed;
  const isAbandoned = view.status === "running" && abandoned.has(view.id as SessionId);
  if (options.json)
    return printJson({
      ...view,
      ...(view.imported !== null && { demands }),
      abandoned: isAbandoned,
      explanation: explainStop(view, { abandoned: isAbandoned }),
    });
  const screen = screenOf(process.stdout);
  const facing = { stateDir: options.stateDir, abandoned: isAbandoned, now: Date.now(), repository };
  for (const line of describe(view, facing, screen)) print(line);
  if (view.imported?.trusted === false) sayDemands(demands);
  if (files === undefined) return;
  sayWritten(files, options.out ?? "");
}

/** `design`, or `design@1` for an older revision. */
function filesAt({ at }: ShowOptions): FilesAt {
  if (at === undefined) return {};
  const [, phase = at, revision] = /^(.+)@([1-9]\d{0,8})$/.exec(at) ?? [];
  return { phase, ...(revision !== undefined && { revision: Number(revision) }) };
}

function describeStatus(view: SessionView, { abandoned }: Facing): string {
  const { status, reason, wakeAt, stopping } = view;
  if (abandoned) return `${status} (its process is gone)`;
  if (stopping !== null) return `${status} (${stoppingTexts[stopping]} at its next step)`;
  const needsYou = status === "running" ? needsYouIn(view) : null;
  if (needsYou !== null) return `${status} (${needsYou})`;
  if (status === "running" && wakeAt !== null) return `${status} (waits until ${wakeAt})`;
  return reason === null ? status : `${status} (${reason})`;
}

const needsYouIn = ({ phases }: SessionView): string | null =>
  needsYouText(
    phases.flatMap(({ name, personas }) =>
      personas.flatMap(({ needsYou }) => (needsYou ? [{ phase: name, next: "help" as const }] : [])),
    ),
  );

/** First the answers for a person on call, then the details. */
export function* describe(
  view: SessionView,
  facing: Facing & { readonly now: number; readonly repository: string | null },
  screen: Screen,
): Generator<string> {
  const paint = painter(screen.color);
  const fit = (text: string, indent: number): readonly string[] =>
    folded(" ".repeat(indent) + plain(text), screen.columns);
  const { id, key, team, status, brief, updatedAt, model, simulated, fork } = view;
  const named = key === null ? id : `${id} (key ${key})`;
  const changed = ago(Date.parse(updatedAt), facing.now);
  yield* fit(`Session ${named}: ${describeStatus(view, facing)}, changed ${changed}`, 0);
  const shortBrief = brief.length > 200 ? `${brief.slice(0, 200)}…` : brief;
  yield* fit(
    `Team ${team}${model === null ? "" : `, ${simulated ? "simulated model" : model}`}: ${shortBrief}`,
    0,
  );
  if (view.owner !== null) yield* fit(`Started by ${view.owner}`, 0);
  for (const { name, mediaType, bytes } of view.attachments)
    yield* fit(`Attached ${name} (${mediaType}, ${bytes} bytes)`, 0);
  for (const [text, indent] of sourceTexts(view)) yield* fit(text, indent);
  if (fork !== null) yield* fit(`Fork of ${fork.session} at ${fork.at}`, 0);
  const lines = [
    ...explanationLines(view, facing),
    ...deliveryLines(view, facing.stateDir, facing.repository),
  ];
  for (const { text, isCommand } of lines) yield* isCommand ? [text] : fit(text, 0);
  yield "";
  for (const { check, text } of view.baseline) yield* fit(`check ${check}: ${text}`, 0);
  if (view.baseline.length > 0) yield "";
  const isDriven = status === "running" && !facing.abandoned;
  for (const phase of view.phases) {
    for (const [text, indent] of phaseTexts(phase, isDriven)) {
      // Colored after folding, which counts columns.
      for (const line of fit(text, indent)) yield indent > 0 ? line : colored(line, phase, paint);
    }
    for (const persona of phase.personas)
      for (const [text, indent] of personaTexts(persona, isDriven)) yield* fit(text, indent);
  }
  if (isDriven) for (const [text, indent] of callTexts(view)) yield* fit(text, indent);
  for (const [text, indent] of effectTexts(view)) yield* fit(text, indent);
  for (const [text, indent] of fileTexts(view)) yield* fit(text, indent);
  if (view.decisions.length > 0) {
    yield "";
    yield "Decisions:";
    for (const { title, reason: why } of view.decisions)
      yield* fit(`${title.replace(/[.:;,\s]+$/, "")}: ${why}`, 2);
  }
}

/** Nothing runs in a session without a driver, whatever its last row says. */
const shownStatus = (status: string, isDriven: boolean): string =>
  status === "running" && !isDriven ? "unfinished" : status;

function phaseTexts(
  { name, status, gate, checkpoint, review, source, revision, notes, putBack }: PhaseView,
  isDriven: boolean,
): [string, number][] {
  const parts: string[] = [shownStatus(status, isDriven)];
  if (revision > 1) parts.push(`revision ${revision}`);
  if (source.kind !== "work")
    parts.push(source.kind === "given" ? `given from ${source.origin}` : source.kind);
  if (gate?.score != null && gate.threshold !== null)
    parts.push(`gate ${gate.verdict} (${gate.score.toFixed(2)} of ${gate.threshold.toFixed(2)})`);
  else if (gate !== null) parts.push(gate.verdict);
  if (review === "awaiting") parts.push("waiting for review");
  if (checkpoint !== null) parts.push(`sealed ${checkpoint.sha256.slice(0, 12)}`);
  return [
    [`${name}: ${parts.join(", ")}`, 0],
    ...notes.map((note): [string, number] => [`rejected: ${note}`, 2]),
    ...putBack.map(({ persona, path, why }): [string, number] => [
      `put back after ${persona}: ${path}: ${why}`,
      2,
    ]),
  ];
}

const statusColors = {
  pending: "dim",
  running: "cyan",
  completed: "green",
  reused: "green",
  failed: "red",
} as const satisfies Readonly<Record<PhaseView["status"], Color>>;

function colored(line: string, { name, status }: PhaseView, paint: Paint): string {
  const color = statusColors[status];
  const head = plain(name);
  return line.startsWith(`${head}:`) ? paint(color, head) + line.slice(head.length) : line;
}

function personaTexts(
  { name, status, summary, attempts, usage }: PersonaView,
  isDriven: boolean,
): [string, number][] {
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
    [`${name}: ${shownStatus(status, isDriven)}${spent}${took}${summary === null ? "" : ` · ${summary}`}`, 2],
  ];
  for (const { round, attempt, failure, healing, stuck } of attempts) {
    const end = stuck ? ` (${stuckText})` : "";
    if (failure !== null)
      texts.push([`round ${round} attempt ${attempt} failed: ${failure.message}${end}`, 4]);
    for (const { healer, action, outcome } of healing) texts.push([`${healer} ${outcome}: ${action}`, 4]);
  }
  return texts;
}

const mostLeftOut = 10;

/** The repository or archive that it works on. */
function* sourceTexts({ source }: SessionView): Generator<[string, number]> {
  if (source === null) return;
  if (source.git === undefined) yield [`Works on the uploaded archive ${source.upload.id}`, 0];
  else {
    const { git, ref, commit, dirty } = source;
    const changed = dirty.length === 0 ? "" : `, ${count(dirty.length, "file")} not committed`;
    yield [`Works on ${git}, ${ref} at ${commit.slice(0, 12)}${changed}`, 0];
  }
  const { leftOut } = source;
  for (const { path, reason } of leftOut.slice(0, mostLeftOut)) yield [`left out: ${path}: ${reason}`, 2];
  const more = leftOut.length - mostLeftOut;
  if (more > 0) yield [`left out: ${more} more (--json lists them)`, 2];
}

/** For a session that has stopped, the explanation already lists them. */
function* callTexts({ waiting }: SessionView): Generator<[string, number]> {
  if (waiting.length === 0) return;
  yield ["", 0];
  yield ["Waiting for a person:", 0];
  for (const { seq, kind, persona, call } of waiting.slice(0, mostEffects))
    yield [`${seq} ${kind} of ${persona}: ${callText(isJsonObject(call) ? call : {})}`, 2];
  if (waiting.length > mostEffects)
    yield [`and ${waiting.length - mostEffects} more; all of them with --json`, 2];
}

function* effectTexts({ effects }: SessionView): Generator<[string, number]> {
  if (effects.length === 0) return;
  yield ["", 0];
  yield ["Effects that are not repeated in silence:", 0];
  for (const { seq, name, state, at, phase, persona } of effects.slice(0, mostEffects))
    yield [`${seq} ${name}: ${state}, began ${at} (${phase}/${persona})`, 2];
  if (effects.length > mostEffects)
    yield [`and ${effects.length - mostEffects} more; all of them with --json`, 2];
}

function* fileTexts({ artifacts }: SessionView): Generator<[string, number]> {
  if (artifacts.length === 0) return;
  yield ["", 0];
  yield [`${count(artifacts.length, "file")}; write them with --out <folder>:`, 0];
  for (const { path, bytes: size, persona } of artifacts.slice(0, mostFiles))
    yield [`${path} (${bytes(size)}${persona === null ? "" : `, ${persona}`})`, 2];
  if (artifacts.length > mostFiles)
    yield [`and ${artifacts.length - mostFiles} more; all of them with --json`, 2];
}
