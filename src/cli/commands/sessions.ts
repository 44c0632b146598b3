import type { SessionListing } from "../../api/listings.ts";
import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { isoTime, isoTimeOrNull } from "../../domain/iso-time.ts";
import { adviceOf, resumeAdvice } from "../../journal/explain-stop.ts";
import { needsYouHeadline } from "../../journal/session-card.ts";
import type { StopRequest } from "../../journal/signal.ts";
import { type SessionStatus, sessionStatuses } from "../../journal/standing.ts";
import { type GlobalOptions, withReadonly } from "../open.ts";
import {
  adviceLines,
  print,
  printJson,
  printTable,
  say,
  sayCommand,
  sayLines,
  sayWrapped,
} from "../output.ts";
import { readCount } from "../read-flags.ts";
import { ago, cost, count, plain, shortNumber, stoppingTexts } from "../terminal/format.ts";
import { screenOf } from "../terminal/screen.ts";

const mostAdvised = 5;

interface SessionsOptions extends GlobalOptions {
  readonly status?: string;
  readonly limit: string;
  readonly names?: boolean;
}

export async function sessions(options: SessionsOptions): Promise<void> {
  const { stateDir } = options;
  const statuses = options.status?.split(",").map(readStatus);
  if (options.names) return printNames(options);
  const limit = readCount("--limit", options.limit, { least: 1, most: 10_000 });
  const { found, lost } = await withReadonly(options, async (maestro) => {
    const abandoned = await maestro.abandoned();
    const listed = await maestro.list({ order: "created", limit, statuses });
    const found = listed.map((session) => ({
      ...session,
      brief: session.card.brief,
      abandoned: session.status === "running" && abandoned.has(session.id),
      stopping: session.status === "running" ? session.card.stopping : null,
      needsYou: session.status === "running" ? needsYouHeadline(session.card.exhausted) : null,
    }));
    return { found, lost: found.length === 0 ? await maestro.lostSessions() : [] };
  });
  if (options.json) {
    return printJson(
      found.map(
        ({ id, key, team, brief, status, reason, queue, priority, abandoned, usage, ...session }) => ({
          id,
          key: key ?? null,
          team,
          brief,
          status,
          reason: reason ?? null,
          queue,
          priority,
          abandoned,
          stopping: session.stopping,
          needsYou: session.needsYou,
          blocked: session.blocked ?? null,
          wakeAt: isoTimeOrNull(session.wakeAt),
          createdAt: isoTime(session.createdAt),
          updatedAt: isoTime(session.updatedAt),
          usage,
        }),
      ),
    );
  }
  if (found.length === 0) return sayNone(statuses, lost, stateDir);
  const isCut = Number.isFinite(screenOf(process.stdout).columns);
  const shown = isCut ? shortIds(found.map(({ id }) => id)) : new Map<string, string>();
  printTable(
    [
      { head: "session" },
      { head: "key", yields: 1 },
      { head: "status" },
      { head: "brief", shrinksTo: 16 },
      { head: "team", yields: 5 },
      { head: "tokens", align: "right", yields: 4 },
      { head: "cost", align: "right", yields: 3 },
      { head: "changed", yields: 2 },
    ],
    found.map(({ id, key, team, brief, updatedAt, usage, ...session }) => [
      shown.get(id) ?? id,
      key ?? "-",
      describeStatus(session),
      brief.trim().replaceAll(/\s+/g, " "),
      team,
      usage.calls === 0 ? "-" : shortNumber(usage.inputTokens + usage.outputTokens),
      usage.calls === 0 ? "-" : cost(usage),
      ago(updatedAt),
    ]),
  );
  const left = found.filter(({ abandoned, blocked }) => abandoned && blocked === undefined);
  if (left.length > 0) sayAbandoned(left, stateDir);
  sayBlocked(found, stateDir);
}

function sayAbandoned(
  left: readonly {
    readonly id: string;
    readonly key: string | undefined;
    readonly card: { readonly needsProgram: boolean };
  }[],
  stateDir: string | undefined,
): void {
  sayWrapped(`The process of ${count(left.length, "session")} is gone; no recorded step is lost.`);
  const shown = left.slice(0, mostAdvised);
  for (const { id, key = null, card } of shown)
    sayLines(adviceLines(resumeAdvice({ id, key, needsProgram: card.needsProgram }), stateDir));
  if (shown.length < left.length) say(`${left.length - shown.length} more are in the list.`);
}

function sayBlocked(
  found: readonly Pick<SessionListing, "id" | "key" | "blocked">[],
  stateDir: string | undefined,
): void {
  const blocked = found.filter((session) => session.blocked !== undefined);
  for (const { id, key, blocked: why } of blocked.slice(0, mostAdvised)) {
    sayWrapped(plain(`Session ${key ?? id} is not taken: ${why?.message}`));
    for (const advice of why === undefined ? [] : adviceOf(why)) sayLines(adviceLines(advice, stateDir));
  }
  if (blocked.length > mostAdvised) say(`${blocked.length - mostAdvised} more are not taken.`);
}

function sayNone(
  statuses: readonly SessionStatus[] | undefined,
  lost: readonly string[],
  stateDir: string | undefined,
): void {
  if (statuses !== undefined) return sayWrapped(`No session is ${statuses.join(" or ")}.`);
  const [first] = lost;
  if (first !== undefined) {
    say("The database has no session. Files of earlier ones are there.");
    return sayCommand("Bring one back", stateDir, "resume", first);
  }
  say("No sessions yet.");
  sayCommand("Start one", stateDir, "run", "<brief>", "--team", "<file>");
  sayCommand("Or try the demo", stateDir, "demo");
}

/** The first ten characters are the time in milliseconds. Two sessions share them only if created together. */
const leastIdLength = 10;

/** The shortest unambiguous prefix of each id. Commands accept it in place of the id. */
export function shortIds(ids: readonly string[]): ReadonlyMap<string, string> {
  const sorted = ids.toSorted();
  const short = new Map<string, string>();
  sorted.forEach((id, index) => {
    const shared = Math.max(sharedLength(id, sorted[index - 1]), sharedLength(id, sorted[index + 1]));
    short.set(id, id.slice(0, Math.max(leastIdLength, shared + 1)));
  });
  return short;
}

function sharedLength(id: string, other = ""): number {
  let length = 0;
  while (length < other.length && id[length] === other[length]) length += 1;
  return length;
}

/** For shell completion: one name per line, the key if there is one. */
async function printNames(options: GlobalOptions): Promise<void> {
  const listed = await withReadonly(options, (maestro) => maestro.sessions({ limit: 100 }));
  for (const { id, key } of listed) print(plain(key ?? id));
}

function readStatus(text: string): SessionStatus {
  const found = sessionStatuses.find((status) => status === text.trim());
  if (found !== undefined) return found;
  throw new InputInvalid(`"${text}" is not a status.${didYouMean(text, sessionStatuses)}`, {
    advice: `One of: ${sessionStatuses.join(", ")}.`,
  });
}

/** The journal of a session whose process died still says that it runs. */
function describeStatus({
  status,
  reason,
  abandoned,
  blocked,
  wakeAt,
  stopping,
  needsYou,
}: Pick<SessionListing, "status" | "reason" | "blocked" | "wakeAt"> & {
  readonly abandoned: boolean;
  readonly stopping: StopRequest | null;
  readonly needsYou: string | null;
}): string {
  if (blocked !== undefined) return `${status} (not taken)`;
  if (abandoned) return "running (its process is gone)";
  if (stopping !== null) return `running (${stoppingTexts[stopping]})`;
  if (needsYou !== null) return `running (${needsYou})`;
  if (status === "running" && wakeAt !== undefined) return "running (waits)";
  return reason === undefined ? status : `${status} (${reason})`;
}
