import { didYouMean } from "../../domain/closest.ts";
import { InputInvalid } from "../../domain/errors.ts";
import { type SessionStatus, sessionStatuses } from "../../domain/journal.ts";
import { type GlobalOptions, withMaestro } from "../open.ts";
import { ago, print, printJson, say, table } from "../output.ts";

interface SessionsOptions extends GlobalOptions {
  readonly status?: string;
  readonly limit: string;
}

export async function sessions(options: SessionsOptions): Promise<void> {
  const statuses = options.status?.split(",").map(readStatus);
  const limit = readLimit(options.limit);
  const { found, abandoned } = await withMaestro(options, async (maestro) => ({
    found: await maestro.sessions({ limit, ...(statuses && { statuses }) }),
    abandoned: await maestro.abandoned(),
  }));
  if (options.json) {
    return printJson(
      found.map(({ id, key, team, status, reason, createdAt, updatedAt }) => ({
        id,
        key: key ?? null,
        team,
        status,
        reason: reason ?? null,
        abandoned: status === "running" && abandoned.has(id),
        createdAt: new Date(createdAt).toISOString(),
        updatedAt: new Date(updatedAt).toISOString(),
      })),
    );
  }
  if (found.length === 0) return say('No sessions yet. Start one: maestro run "..." --team file');
  print(
    table(
      ["session", "key", "team", "status", "changed"],
      found.map(({ id, key, team, status, reason, updatedAt }) => [
        id,
        key ?? "-",
        team,
        describeStatus(status, reason, abandoned.has(id)),
        ago(updatedAt),
      ]),
    ),
  );
}

function readStatus(text: string): SessionStatus {
  const found = sessionStatuses.find((status) => status === text.trim());
  if (found !== undefined) return found;
  throw new InputInvalid(`"${text}" is not a status.${didYouMean(text, sessionStatuses)}`, {
    advice: `One of: ${sessionStatuses.join(", ")}.`,
  });
}

function readLimit(text: string): number {
  const limit = Number(text);
  if (Number.isInteger(limit) && limit >= 1 && limit <= 10_000) return limit;
  throw new InputInvalid(`--limit is ${text}; it must be a whole number from 1 to 10000.`);
}

/** A session whose process died still says that it runs; who looks should see the difference. */
function describeStatus(status: SessionStatus, reason: string | undefined, abandoned: boolean): string {
  if (status === "running" && abandoned) return "running (its process died: resume it)";
  return reason === undefined ? status : `${status} (${reason})`;
}
