import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { type SessionStatus, sessionStatuses } from "../../domain/journal.ts";
import { type GlobalOptions, withLook } from "../open.ts";
import { pasteable, print, printJson, printTable, sayWrapped } from "../output.ts";
import { readCount } from "../read-flags.ts";
import { ago, cost, plain, shortNumber } from "../terminal/words.ts";

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
  const found = await withLook(options, async (maestro) => {
    const abandoned = await maestro.abandoned();
    const listed = await maestro.sessions({ limit, ...(statuses && { statuses }) });
    const usageOf = await maestro.usageOfEach(listed.map(({ id }) => id));
    return listed.map((session) => ({
      ...session,
      abandoned: session.status === "running" && abandoned.has(session.id),
      usage: usageOf(session.id),
    }));
  });
  if (options.json) {
    return printJson(
      found.map(({ id, key, team, status, reason, createdAt, updatedAt, abandoned, usage }) => ({
        id,
        key: key ?? null,
        team,
        status,
        reason: reason ?? null,
        abandoned,
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(updatedAt).toISOString(),
        usage,
      })),
    );
  }
  if (found.length === 0)
    return sayWrapped(
      pasteable(
        'No sessions yet. Start one: maestro run "..." --team <file>; or look: maestro demo',
        stateDir,
      ),
    );
  printTable(
    [
      { head: "session", yields: 1 },
      { head: "key" },
      { head: "team", yields: 4 },
      { head: "status" },
      { head: "tokens", align: "right", yields: 3 },
      { head: "cost", align: "right", yields: 2 },
      { head: "changed", yields: 1 },
    ],
    found.map(({ id, key, team, status, reason, abandoned, updatedAt, usage }) => [
      id,
      key ?? id.slice(0, 14),
      team,
      describeStatus(status, reason, abandoned),
      usage.calls === 0 ? "-" : shortNumber(usage.inputTokens + usage.outputTokens),
      usage.calls === 0 ? "-" : cost(usage),
      ago(updatedAt),
    ]),
  );
  const left = found.filter(({ abandoned }) => abandoned);
  if (left.length > 0)
    sayWrapped(
      pasteable(
        `The process of ${left.length} is gone; nothing recorded is lost. Go on with: maestro resume <session>`,
        stateDir,
      ),
    );
}

/** For shells that complete them: a key where there is one, one a line. */
async function printNames(options: GlobalOptions): Promise<void> {
  const listed = await withLook(options, (maestro) => maestro.sessions({ limit: 100 }));
  for (const { id, key } of listed) print(plain(key ?? id));
}

function readStatus(text: string): SessionStatus {
  const found = sessionStatuses.find((status) => status === text.trim());
  if (found !== undefined) return found;
  throw new InputInvalid(`"${text}" is not a status.${didYouMean(text, sessionStatuses)}`, {
    advice: `One of: ${sessionStatuses.join(", ")}.`,
  });
}

/** A session whose process ended, by a crash or a stop, still says that it runs; who looks should see the difference. */
function describeStatus(status: SessionStatus, reason: string | undefined, abandoned: boolean): string {
  if (abandoned) return "running (its process is gone)";
  return reason === undefined ? status : `${status} (${reason})`;
}
