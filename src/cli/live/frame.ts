import { type Color, painter } from "../terminal/color.ts";
import type { Screen } from "../terminal/screen.ts";
import { cut, padEnd, widthOf } from "../terminal/width.ts";
import { countdown, duration, money, plain, shortNumber } from "../terminal/words.ts";
import type { LivePersona, LivePhase, LiveSession } from "./live-state.ts";

interface Piece {
  readonly text: string;
  readonly color?: Color;
}

/** What must stay in view when the terminal is small comes with a low number. */
interface Line {
  readonly pieces: readonly Piece[];
  readonly right?: string;
  readonly rank: number;
}

const marks: Readonly<Record<string, Piece>> = {
  pending: { text: "○", color: "dim" },
  running: { text: "▶", color: "cyan" },
  waiting: { text: "◷", color: "yellow" },
  completed: { text: "✔", color: "green" },
  reused: { text: "↺", color: "green" },
  failed: { text: "✘", color: "red" },
  review: { text: "?", color: "yellow" },
};

/** The whole picture as lines that fit the screen. A pure function: what it shows depends on its arguments alone. */
export function frame(session: LiveSession, screen: Screen, now: number): string[] {
  const lines = [
    headline(session, now),
    ...session.phases.flatMap((phase) => phaseLines(session, phase, now)),
  ];
  for (const text of session.warnings)
    lines.push({ pieces: [{ text: `! ${text}`, color: "yellow" }], rank: 2 });
  lines.push(bottomLine(session, now));
  return fitRows(lines, Math.max(1, screen.rows - 1)).map((line) => showLine(line, screen));
}

function headline(session: LiveSession, now: number): Line {
  const { team, brief, model, createdAt, claimedAt } = session;
  const since = claimedAt ?? createdAt;
  const simulated = model === "simulated" ? " · simulated model" : "";
  return {
    pieces: [
      { text: team, color: "bold" },
      { text: simulated, color: "yellow" },
      { text: brief === "" ? "" : ` · ${brief}`, color: "dim" },
    ],
    right: since === undefined ? "" : duration((session.endedAt ?? now) - since),
    rank: 1,
  };
}

function phaseLines(session: LiveSession, phase: LivePhase, now: number): Line[] {
  const { name, status, review, gate, startedAt, endedAt } = phase;
  const mark = review === "awaiting" ? marks["review"] : marks[status];
  const details: Piece[] = [];
  if (gate !== undefined) details.push({ text: gate.text, color: gate.passed ? "dim" : "red" });
  if (review === "awaiting") details.push({ text: "waits for your review", color: "yellow" });
  const time = startedAt === undefined ? "" : duration((endedAt ?? session.endedAt ?? now) - startedAt);
  const [first, ...others] = phase.personas;
  const head = (more: readonly Piece[], rank: number, right: string): Line => ({
    pieces: [
      ...(mark === undefined ? [] : [mark]),
      { text: ` ${name}`, color: status === "pending" ? "dim" : "bold" },
      ...more,
    ],
    right,
    rank,
  });
  const described = details.flatMap((detail) => [{ text: " · " }, detail]);
  if (status === "pending") return [head([], 5, "")];
  if (status === "completed") {
    const by =
      first === undefined ? "" : others.length === 0 ? first.name : `${phase.personas.length} personas`;
    return [head([{ text: ` ${by}`, color: "dim" }, ...described], review === "awaiting" ? 2 : 4, time)];
  }
  return [
    head(described, 2, time),
    ...phase.personas.map((persona) => personaLine(session, phase, persona, now)),
  ];
}

function personaLine(session: LiveSession, phase: LivePhase, persona: LivePersona, now: number): Line {
  const { name, status, round, attempt, activity, doing, until } = persona;
  const width = Math.max(...phase.personas.map((member) => widthOf(member.name)));
  const again = round + attempt > 2 ? ` · ${round > 1 ? `round ${round} ` : ""}attempt ${attempt}` : "";
  const goesOn = status === "running" ? "goes on" : "again";
  const left = until === undefined ? "" : ` · ${goesOn} ${until > now ? "in " : ""}${countdown(until - now)}`;
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
    rank: status === "pending" ? 4 : status === "completed" || status === "reused" ? 3 : 1,
  };
}

function tookBy({ endedAt: end }: LiveSession, { startedAt, endedAt }: LivePersona, now: number): string {
  return startedAt === undefined ? "" : duration((endedAt ?? end ?? now) - startedAt);
}

/** A persona's usage is counted over the session: shown where it worked last. */
function spentBy({ usage, phases }: LiveSession, phase: LivePhase, { name }: LivePersona): string {
  const row = usage?.rows.find((candidate) => candidate.name === name);
  if (row === undefined) return "";
  const last = phases.findLast(
    ({ status, personas }) => status !== "pending" && personas.some((member) => member.name === name),
  );
  return last === phase ? `${shortNumber(row.inputTokens + row.outputTokens)} · ${money(row.costUsd)}` : "";
}

function bottomLine({ usage, model, status, reason, hint, wakeAt }: LiveSession, now: number): Line {
  const ended = status !== "running" && status !== "queued";
  const state = reason === undefined ? status : `${status} (${reason})`;
  const pieces: Piece[] = ended ? [{ text: state, color: "bold" }] : [];
  if (ended && wakeAt !== undefined) pieces.push({ text: `, goes on in ${countdown(wakeAt - now)}` });
  const total = usage?.total;
  if (total !== undefined && total.calls > 0) {
    if (ended) pieces.push({ text: " · " });
    const tokens = shortNumber(total.inputTokens + total.outputTokens);
    pieces.push({ text: `${tokens} tokens · ${money(total.costUsd)}` });
    if (model === "simulated") pieces.push({ text: " at invented prices", color: "dim" });
    if (total.savedTokens > 0)
      pieces.push(
        { text: " · " },
        { text: `${shortNumber(total.savedTokens)} not paid again`, color: "green" },
      );
  }
  if (!ended) pieces.push({ text: pieces.length === 0 ? "" : " · " }, { text: hint, color: "dim" });
  return { pieces, rank: 1 };
}

/** Whatever is least needed goes first, from the top: what happens now is at the bottom. */
function fitRows(lines: readonly Line[], rows: number): readonly Line[] {
  let kept = lines;
  for (const rank of [5, 4, 3, 2]) {
    while (kept.length > rows) {
      const place = kept.findIndex((line) => line.rank === rank);
      if (place === -1) break;
      kept = kept.toSpliced(place, 1);
    }
  }
  return kept.slice(-rows);
}

function showLine({ pieces, right = "" }: Line, { columns, color }: Screen): string {
  const paint = painter(color);
  // The last column stays free: some terminals wrap when it is filled.
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
