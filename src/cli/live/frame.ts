import { simulatedName } from "../../domain/simulated.ts";
import { needsYouText } from "../../journal/exhausted.ts";
import type { PersonaProgress, PhaseProgress } from "../../journal/progress.ts";
import type { GateFact } from "../../journal/public-fact.ts";
import { type Color, painter } from "../terminal/color.ts";
import { count, countdown, duration, money, plain, shortNumber } from "../terminal/format.ts";
import type { Screen } from "../terminal/screen.ts";
import { cut, padEnd, widthOf } from "../terminal/width.ts";
import type { LiveSession } from "./live-state.ts";

interface Piece {
  readonly text: string;
  readonly color?: Color;
}

interface Line {
  readonly pieces: readonly Piece[];
  readonly right?: string;
  /** On a small terminal, lines of the highest rank are hidden first. Lines of rank 0 always stay. */
  readonly rank: number;
  /** How a hidden line is counted. */
  readonly counted?: { readonly status: string; readonly noun: string };
}

const rank = {
  pendingPhase: 6,
  completedPhase: 5,
  idlePersona: 4,
  phaseHead: 3,
  headline: 2,
  active: 1,
  always: 0,
};

const marks: Readonly<Record<string, Piece>> = {
  pending: { text: "○", color: "dim" },
  running: { text: "▶", color: "cyan" },
  waiting: { text: "◷", color: "yellow" },
  completed: { text: "✔", color: "green" },
  reused: { text: "↺", color: "green" },
  failed: { text: "✘", color: "red" },
  review: { text: "?", color: "yellow" },
};

/** The frame as lines that fit the screen. */
export function frame(session: LiveSession, screen: Screen, now: number): string[] {
  const lines = [
    headline(session, now),
    ...session.progress.phases.flatMap((phase) => phaseLines(session, phase, now)),
    ...warningsOf(session.progress).map(warningLine),
    bottomLine(session, now),
  ];
  return fitRows(lines, Math.max(1, screen.rows - 1)).map((line) => showLine(line, screen));
}

function warningsOf({ status, phases, warnings }: LiveSession["progress"]): readonly string[] {
  if (status !== "running") return warnings;
  const exhausted = phases.flatMap(({ name, personas }) =>
    personas.flatMap(({ exhausted: next }) => (next === null ? [] : [{ phase: name, next }])),
  );
  const needsYou = needsYouText(exhausted);
  return needsYou === null ? warnings : [...warnings, needsYou];
}

function warningLine(text: string): Line {
  return {
    pieces: [{ text: `! ${plain(text)}`, color: "yellow" }],
    rank: rank.phaseHead,
    counted: { status: "", noun: "warning" },
  };
}

function headline(session: LiveSession, now: number): Line {
  const { team, brief, model, createdAt, claimedAt, endedAt } = session.progress;
  const since = claimedAt ?? createdAt;
  const simulated = model === simulatedName ? " · simulated model" : "";
  return {
    pieces: [
      { text: team, color: "bold" },
      { text: simulated, color: "yellow" },
      { text: brief === "" ? "" : ` · ${brief}`, color: "dim" },
    ],
    right: since === undefined ? "" : duration((endedAt ?? now) - since),
    rank: rank.headline,
  };
}

function phaseLines(session: LiveSession, phase: PhaseProgress, now: number): Line[] {
  const { name, status, review, gate, startedAt, endedAt } = phase;
  const mark = review === "awaiting" ? marks["review"] : marks[status];
  const details: Piece[] = [];
  if (gate !== null && gate.score !== null && gate.threshold !== null) details.push(gatePiece(gate));
  if (review === "awaiting") details.push({ text: "waiting for your review", color: "yellow" });
  const time =
    startedAt === undefined ? "" : duration((endedAt ?? session.progress.endedAt ?? now) - startedAt);
  const [first, ...others] = phase.personas;
  const head = (more: readonly Piece[], of: number, right: string): Line => ({
    pieces: [
      ...(mark === undefined ? [] : [mark]),
      { text: ` ${name}`, color: status === "pending" ? "dim" : "bold" },
      ...more,
    ],
    right,
    rank: of,
    counted: { status: review === "awaiting" ? "awaiting review" : status, noun: "phase" },
  });
  const described = details.flatMap((detail) => [{ text: " · " }, detail]);
  if (status === "pending") return [head([], rank.pendingPhase, "")];
  if (status === "completed") {
    const by =
      first === undefined ? "" : others.length === 0 ? first.name : `${phase.personas.length} personas`;
    const of = review === "awaiting" ? rank.phaseHead : rank.completedPhase;
    return [head([{ text: ` ${by}`, color: "dim" }, ...described], of, time)];
  }
  return [
    head(described, rank.phaseHead, time),
    ...phase.personas.map((persona) => personaLine(session, phase, persona, now)),
  ];
}

function personaLine(
  session: LiveSession,
  phase: PhaseProgress,
  persona: PersonaProgress,
  now: number,
): Line {
  const { name, status, round, attempt } = persona;
  const live = status === "running" && phase.status === "running" ? session.live.get(name) : undefined;
  const { text: activity, doing } = live ?? { text: persona.activity, doing: undefined };
  const until = doing === undefined ? persona.until : undefined;
  const width = Math.max(...phase.personas.map((member) => widthOf(member.name)));
  const again = round + attempt > 2 ? ` · ${round > 1 ? `round ${round} ` : ""}attempt ${attempt}` : "";
  const next = status === "running" ? "continues" : "retries";
  const left = until === undefined ? "" : ` · ${next} ${until > now ? "in " : ""}${countdown(until - now)}`;
  const mark = marks[until !== undefined && until > now ? "waiting" : status];
  const underWayMs = doing === undefined ? 0 : now - doing.since;
  const since = underWayMs < 1_000 ? "" : ` ${duration(underWayMs)}`;
  const right = [tookBy(session, persona, now), spentBy(session, phase, persona)];
  return {
    pieces: [
      { text: "  " },
      ...(mark === undefined ? [] : [mark]),
      { text: ` ${padEnd(name, width)}` },
      { text: again, color: "yellow" },
      { text: left, color: "yellow" },
      {
        text: activity === "" ? "" : ` · ${plain(activity)}${since}`,
        color: status === "waiting" ? "yellow" : "dim",
      },
    ],
    right: right.filter((part) => part !== "").join(" · "),
    rank: ["pending", "completed", "reused"].includes(status) ? rank.idlePersona : rank.active,
    counted: { status, noun: "persona" },
  };
}

function tookBy({ progress }: LiveSession, { startedAt, endedAt }: PersonaProgress, now: number): string {
  return startedAt === undefined ? "" : duration((endedAt ?? progress.endedAt ?? now) - startedAt);
}

const gatePiece = ({ score, threshold, verdict }: GateFact): Piece => ({
  text: `gate ${score?.toFixed(2)} of ${threshold?.toFixed(2)}`,
  color: verdict === "failed" ? "red" : "dim",
});

/** Usage is counted per session, so it is shown at the phase where the persona worked last. */
function spentBy({ usage, progress }: LiveSession, phase: PhaseProgress, { name }: PersonaProgress): string {
  const row = usage?.rows.find((candidate) => candidate.name === name);
  if (row === undefined) return "";
  const last = progress.phases.findLast(
    ({ status, personas }) => status !== "pending" && personas.some((member) => member.name === name),
  );
  return last === phase ? `${shortNumber(row.inputTokens + row.outputTokens)} · ${money(row.costUsd)}` : "";
}

function bottomLine({ usage, hint, progress }: LiveSession, now: number): Line {
  const { model, status, reason, wakeAt } = progress;
  const ended = status !== "running" && status !== "queued";
  const state = reason === null ? status : `${status} (${reason})`;
  const pieces: Piece[] = ended ? [{ text: state, color: "bold" }] : [];
  if (ended && wakeAt !== undefined) pieces.push({ text: `, resumes in ${countdown(wakeAt - now)}` });
  const total = usage?.total;
  if (total !== undefined && total.calls > 0) {
    if (ended) pieces.push({ text: " · " });
    const tokens = shortNumber(total.inputTokens + total.outputTokens);
    pieces.push({ text: `${tokens} tokens · ${money(total.costUsd)}` });
    if (model === simulatedName) pieces.push({ text: " at invented prices", color: "dim" });
    if (total.savedTokens > 0)
      pieces.push(
        { text: " · " },
        { text: `${shortNumber(total.savedTokens)} not paid again`, color: "green" },
      );
  }
  if (!ended) pieces.push({ text: pieces.length === 0 ? "" : " · " }, { text: hint, color: "dim" });
  return { pieces, rank: rank.always };
}

/** Hides the least important lines and counts them by kind. */
function fitRows(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length <= rows) return lines;
  const room = Math.max(1, rows - 1);
  const hidden = new Set<Line>();
  for (const of of Object.values(rank).toSorted((a, b) => b - a)) {
    const candidates = lines.filter((line) => line.rank === of && of > rank.always);
    // Keeps the next pending phases, and the latest of everything else.
    const ordered = of === rank.pendingPhase ? candidates.toReversed() : candidates;
    for (const line of ordered.slice(0, Math.max(0, lines.length - hidden.size - room))) hidden.add(line);
  }
  const kept = lines.filter((line) => !hidden.has(line));
  return rows === 1
    ? kept
    : [...kept.slice(0, -1), foldLine(lines.filter((line) => hidden.has(line))), ...kept.slice(-1)];
}

function foldLine(hidden: readonly Line[]): Line {
  const counts = new Map<string, number>();
  for (const { counted } of hidden) {
    if (counted === undefined) continue;
    const what = `${counted.status} ${counted.noun}`.trim();
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  const parts = [...counts].map(([what, many]) => count(many, what));
  return { pieces: [{ text: `… not shown: ${parts.join(", ")}`, color: "dim" }], rank: rank.always };
}

function showLine({ pieces, right = "" }: Line, { columns, color }: Screen): string {
  const paint = painter(color);
  // Some terminals wrap when the last column is filled.
  const room = columns - 1;
  const showsRight = right !== "" && room >= widthOf(right) + 24;
  let left = showsRight ? room - widthOf(right) - 1 : room;
  let text = "";
  for (const piece of pieces) {
    const shown = cut(plain(piece.text), left);
    left -= widthOf(shown);
    text += piece.color === undefined ? shown : paint(piece.color, shown);
    if (left <= 0) break;
  }
  if (!showsRight) return text;
  const space = Number.isFinite(left) ? " ".repeat(left + 1) : "  ";
  return `${text}${space}${paint("dim", right)}`;
}
